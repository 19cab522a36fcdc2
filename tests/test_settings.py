"""What the server reads from its environment."""

import pytest

from infra.settings import SettingRefused, environment, read_database_url, read_settings

ENOUGH = {
    "SHANGHAI_DATABASE_URL": "postgresql://anna:hidden@db/shanghai",
    "SHANGHAI_REDIS_URL": "rediss://anna:hidden@bus:6380/0",
    "SHANGHAI_SECRET_KEY": "0f" * 32,
}


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


def test_a_child_is_given_this_environment_with_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHANGHAI_PORT", "8001")
    monkeypatch.setenv("LANG", "C.UTF-8")
    given = environment({"SHANGHAI_PORT": "8002"})
    assert (given["SHANGHAI_PORT"], given["LANG"]) == ("8002", "C.UTF-8")
