"""Reaching what `shanghai up` runs on a data folder, from another process."""

from collections.abc import Mapping
from pathlib import Path

from infra.embedded import CannotRun
from infra.embedded.data_folder import secret_key
from infra.settings import Settings, environment, read_settings


class NothingRuns(CannotRun):
    """No server runs on this data folder."""


def database_url(run: Path) -> str:
    """Gives the address of the Postgres whose socket is in a folder."""
    return f"postgresql://postgres@/postgres?host={run}"


def engine_variables(run: Path) -> Mapping[str, str]:
    """Gives the addresses of the engines whose sockets are in a folder."""
    database, redis = database_url(run), f"unix://{run}/redis.sock"
    return {
        "SHANGHAI_DATABASE_URL": database,
        "SHANGHAI_PROJECTOR_DATABASE_URL": database,
        "SHANGHAI_BUS_URL": redis,
        "SHANGHAI_BROKER_URL": redis,
        "SHANGHAI_LIMITS_URL": redis,
    }


def settings_of(data: Path) -> Settings:
    """Reads how the server on a data folder is reached. Errors: NothingRuns, SettingRefused."""
    run = data / "run"
    if not run.is_symlink() or not run.exists():
        raise NothingRuns(f"no `shanghai up` runs on {data}")
    variables = environment(engine_variables(run.resolve()))
    if "SHANGHAI_SECRET_KEY_FILE" not in variables:
        variables.setdefault("SHANGHAI_SECRET_KEY", secret_key(data))
    return read_settings(variables)
