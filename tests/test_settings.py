"""What the server reads from its environment."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from infra import settings_reference
from infra.embedded.stack import GENEROUS
from infra.settings import (
    SettingRefused,
    Settings,
    environment,
    read_database_url,
    read_metrics_port,
    read_settings,
)
from tests.processes import ENOUGH


def test_three_variables_are_enough() -> None:
    settings = read_settings(ENOUGH)
    assert settings.bus_url == settings.broker_url == settings.limits_url == ENOUGH["SHANGHAI_REDIS_URL"]
    assert settings.secret_key == bytes.fromhex("0f" * 32)
    assert (settings.host, settings.port, settings.guests_per_minute) == ("127.0.0.1", 8000, 20)


def test_each_engine_can_have_its_own_address() -> None:
    settings = read_settings({**ENOUGH, "SHANGHAI_BROKER_URL": "amqp://rabbit//"})
    assert settings.broker_url == "amqp://rabbit//"
    assert settings.bus_url == ENOUGH["SHANGHAI_REDIS_URL"]


def test_projector_and_operator_can_have_logins_of_their_own() -> None:
    own = {
        "SHANGHAI_PROJECTOR_DATABASE_URL": "postgresql://boris@db",
        "SHANGHAI_OPERATOR_DATABASE_URL": "postgresql://c@db",
    }
    assert read_settings(ENOUGH).projector_database_url == ENOUGH["SHANGHAI_DATABASE_URL"]
    assert read_settings({**ENOUGH, **own}).projector_database_url == "postgresql://boris@db"
    assert read_database_url(ENOUGH, of="operator") == ENOUGH["SHANGHAI_DATABASE_URL"]
    assert read_database_url({**ENOUGH, **own}, of="operator") == "postgresql://c@db"
    assert "boris" not in repr(read_settings({**ENOUGH, **own}))


def test_a_unix_socket_is_spelled_for_celery_too() -> None:
    settings = read_settings({**ENOUGH, "SHANGHAI_REDIS_URL": "unix:///run/redis.sock?db=2"})
    assert settings.bus_url == "unix:///run/redis.sock?db=2"
    assert settings.broker_url == "redis+socket:///run/redis.sock?virtual_host=2"


def test_an_empty_variable_counts_as_absent() -> None:
    assert read_settings({**ENOUGH, "SHANGHAI_PORT": ""}).port == 8000


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SHANGHAI_DATABASE_URL", ""),
        ("SHANGHAI_DATABASE_URL", "mysql://db"),
        ("SHANGHAI_REDIS_URL", ""),
        ("SHANGHAI_BUS_URL", "amqp://rabbit"),
        ("SHANGHAI_SECRET_KEY", ""),
        ("SHANGHAI_SECRET_KEY", "0f0f"),
        ("SHANGHAI_SECRET_KEY", "x" * 64),
        ("SHANGHAI_PORT", "eight"),
        ("SHANGHAI_PORT", "65536"),
        ("SHANGHAI_LOG_LEVEL", "loud"),
        ("SHANGHAI_BUS_SHARDS", "0"),
        ("SHANGHAI_BUS_MAXLEN", "99"),
        ("SHANGHAI_GUESTS_PER_MINUTE", "-1"),
        ("SHANGHAI_READS_PER_S", "0"),
        ("SHANGHAI_WORKER_CONCURRENCY", "1.5"),
    ],
)
def test_a_bad_value_is_refused_in_one_line_that_names_its_variable(variable: str, value: str) -> None:
    with pytest.raises(SettingRefused) as refused:
        read_settings({**ENOUGH, variable: value})
    assert variable in str(refused.value)
    assert "\n" not in str(refused.value)


def test_neither_the_key_nor_a_password_is_ever_shown() -> None:
    shown = repr(read_settings({**ENOUGH, "SHANGHAI_BROKER_URL": "amqp://anna:hid/den@rabbit//"}))
    assert "postgresql://db/shanghai" in shown
    assert "amqp://rabbit//" in shown
    assert "hid" not in shown
    assert "0f0f" not in shown
    assert "x0f" not in shown


def test_a_migration_needs_the_database_alone() -> None:
    assert read_database_url({"SHANGHAI_DATABASE_URL": "postgresql://db"}) == "postgresql://db"
    with pytest.raises(SettingRefused):
        read_database_url({})


def test_a_probe_needs_the_port_alone() -> None:
    assert read_metrics_port({"SHANGHAI_METRICS_PORT": "9000"}) == 9000
    for given in ({}, {"SHANGHAI_METRICS_PORT": "0"}, {"SHANGHAI_METRICS_PORT": "65536"}):
        with pytest.raises(SettingRefused, match="SHANGHAI_METRICS_PORT"):
            read_metrics_port(given)


def test_a_child_is_given_this_environment_with_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHANGHAI_PORT", "8001")
    monkeypatch.setenv("LANG", "C.UTF-8")
    given = environment({"SHANGHAI_PORT": "8002"})
    assert (given["SHANGHAI_PORT"], given["LANG"]) == ("8002", "C.UTF-8")


SECRETS = [
    ("SHANGHAI_DATABASE_URL", "database_url"),
    ("SHANGHAI_PROJECTOR_DATABASE_URL", "projector_database_url"),
    ("SHANGHAI_REDIS_URL", "bus_url"),
    ("SHANGHAI_LIMITS_URL", "limits_url"),
    ("SHANGHAI_SECRET_KEY", "secret_key"),
]


@pytest.mark.parametrize(("variable", "field"), SECRETS)
def test_a_secret_may_stand_in_a_file(variable: str, field: str, tmp_path: Path) -> None:
    secret = {**ENOUGH, "SHANGHAI_PROJECTOR_DATABASE_URL": "postgresql://p@db", "SHANGHAI_LIMITS_URL": "redis://l"}
    (tmp_path / "secret").write_text(f"{secret[variable]}\n")
    others = {name: value for name, value in secret.items() if name != variable}
    settings = read_settings({**others, f"{variable}_FILE": str(tmp_path / "secret")})
    assert getattr(settings, field) == getattr(read_settings(secret), field)


def test_the_operators_address_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("postgresql://operator@db")
    given = {"SHANGHAI_OPERATOR_DATABASE_URL_FILE": str(tmp_path / "url")}
    assert read_database_url(given, of="operator") == "postgresql://operator@db"


def test_a_secret_that_is_set_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("0e" * 32)
    with pytest.raises(SettingRefused) as refused:
        read_settings({**ENOUGH, "SHANGHAI_SECRET_KEY_FILE": str(tmp_path / "key")})
    assert str(refused.value) == (
        "SHANGHAI_SECRET_KEY and SHANGHAI_SECRET_KEY_FILE are both set: one of them has to go"
    )


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot read {path}: No such file or directory"),
        (b"", "{path} is empty"),
        (b" \n", "{path} is empty"),
        (b"\xff\xfe", "{path} is not text"),
    ],
)
def test_a_file_that_holds_no_secret_is_refused_in_one_line(content: bytes | None, why: str, tmp_path: Path) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    given = {name: value for name, value in ENOUGH.items() if name != "SHANGHAI_SECRET_KEY"}
    with pytest.raises(SettingRefused) as refused:
        read_settings({**given, "SHANGHAI_SECRET_KEY_FILE": str(path)})
    assert str(refused.value) == f"SHANGHAI_SECRET_KEY_FILE: {why.format(path=path)}"


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingRefused, match=r"^SHANGHAI_DATABASE_URL_FILE: cannot read .*: Is a directory$"):
        read_database_url({"SHANGHAI_DATABASE_URL_FILE": str(tmp_path)})


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "url").touch(mode=0o000)
    with pytest.raises(SettingRefused, match=r"^SHANGHAI_DATABASE_URL_FILE: cannot read .*: Permission denied$"):
        read_database_url({"SHANGHAI_DATABASE_URL_FILE": str(tmp_path / "url")})


def test_what_a_child_is_given_stands_for_the_file_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHANGHAI_DATABASE_URL_FILE", "/run/secrets/url")
    monkeypatch.setenv("SHANGHAI_SECRET_KEY_FILE", "/run/secrets/key")
    given = environment({"SHANGHAI_DATABASE_URL": "postgresql://db"})
    assert "SHANGHAI_DATABASE_URL_FILE" not in given
    assert given["SHANGHAI_SECRET_KEY_FILE"] == "/run/secrets/key"


def test_the_reference_of_the_settings_is_what_the_code_says() -> None:
    written = (Path(settings_reference.__file__).parent / "SETTINGS.md").read_text()
    assert written == settings_reference.reference(GENEROUS), "run make settings"


def test_every_setting_has_a_comment_for_the_reference() -> None:
    rows = settings_reference.reference({}).splitlines()[-len(Settings.__struct_fields__) :]
    for name, row in zip(Settings.__struct_fields__, rows, strict=True):
        assert row.startswith(f"| `SHANGHAI_{name.upper()}`")
        assert not row.endswith("|  |")


@pytest.mark.parametrize("module", ["api", "workers.relay"])
def test_a_process_without_its_settings_ends_with_one_line(module: str, tmp_path: Path) -> None:
    (tmp_path / "url").touch()
    ended = subprocess.run(
        [sys.executable, "-m", module],
        env=environment({"SHANGHAI_DATABASE_URL_FILE": str(tmp_path / "url")}),
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == f"shanghai: SHANGHAI_DATABASE_URL_FILE: {tmp_path / 'url'} is empty\n"
