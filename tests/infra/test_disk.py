"""The room on the database's disk is told as the system sees it."""

import math
import os
from pathlib import Path

import pytest

from infra.watching.disk import disk_readings
from infra.watching.numbers import reading
from tests.exported import number


def test_the_room_left_is_told_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten blocks of 4 KiB four are used, two are root's."""
    told = os.statvfs_result((4096, 4096, 10, 6, 4, 0, 0, 0, 0, 255))
    monkeypatch.setattr(os, "statvfs", {tmp_path: told}.__getitem__)
    with reading(*disk_readings(str(tmp_path))):
        assert number("shanghai_disk_free_bytes") == 4 * 4096
        assert number("shanghai_disk_free_ratio") == 0.5


def test_a_folder_that_is_not_there_has_no_room_and_none_is_no_number(tmp_path: Path) -> None:
    with reading(*disk_readings(str(tmp_path / "gone"))):
        assert math.isnan(number("shanghai_disk_free_bytes"))
    assert disk_readings("") == ()
