"""Reaching what `shanghai up` runs on a data folder, from another process."""

from pathlib import Path

from infra.embedded import CannotRun
from infra.embedded.data_folder import secret_key
from infra.embedded.postgres import database_url
from infra.settings import Settings, environment, read_database_url, read_settings


class NothingRuns(CannotRun):
    """No server runs on this data folder."""


def variables_of(data: Path, run: Path) -> dict[str, str]:
    """Is this process's own environment with the engines whose sockets are in `run`, and a key: the data folder's own
    where no other is given. Errors: FolderUnusable.
    """
    database, redis = database_url(run), f"unix://{run}/redis.sock"
    variables = environment(
        {
            "SHANGHAI_DATABASE_URL": database,
            "SHANGHAI_PROJECTOR_DATABASE_URL": database,
            "SHANGHAI_BUS_URL": redis,
            "SHANGHAI_BROKER_URL": redis,
            "SHANGHAI_LIMITS_URL": redis,
        }
    )
    if "SHANGHAI_SECRET_KEY_FILE" not in variables:
        variables.setdefault("SHANGHAI_SECRET_KEY", secret_key(data))
    return variables


def settings_of(data: Path) -> Settings:
    """Reads how the server on a data folder is reached. Errors: NothingRuns, SettingRefused."""
    return read_settings(variables_beside(data))


def login_at(data: Path | None, *, of: str = "") -> str:
    """Gives where to log in: at the server on a data folder, else where the environment says. of: as there.

    Errors: NothingRuns, SettingRefused.
    """
    return read_database_url(of=of) if data is None else settings_of(data).database_url


def variables_beside(data: Path) -> dict[str, str]:
    """Is the environment of one more process beside the server on a data folder. Errors: NothingRuns."""
    return variables_of(data, run_of(data))


def run_of(data: Path) -> Path:
    """Finds the folder with the sockets of the server on a data folder. Errors: NothingRuns."""
    run = data / "run"
    if not run.is_symlink() or not run.exists():
        raise NothingRuns(f"no `shanghai up` runs on {data}")
    return run.resolve()
