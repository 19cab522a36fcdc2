"""The environment, read once into one frozen Struct; no other file reads it."""

import os
import re
import sys
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import parse_qs, urlsplit

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import fields

Url = Annotated[str, Meta(pattern=r"^[a-z+]+://")]
PostgresUrl = Annotated[str, Meta(pattern=r"^postgres(ql)?://")]
RedisUrl = Annotated[str, Meta(pattern=r"^(rediss?|unix)://")]
MetricsPort = Annotated[int, Meta(ge=0, le=65_535)]
UpTo64 = Annotated[int, Meta(ge=1, le=64)]
UpToMillion = Annotated[int, Meta(ge=1, le=1_000_000)]


class Settings(Struct, frozen=True, kw_only=True):
    """Each field is the variable SHANGHAI_ + its name in capitals; the comment goes into SETTINGS.md.

    Whatever is_secret may stand in a file instead, which SHANGHAI_ + the name + _FILE names.
    """

    database_url: PostgresUrl  # postgresql://…; no default
    projector_database_url: PostgresUrl  # the same database as the projector logs in; default SHANGHAI_DATABASE_URL
    bus_url: RedisUrl  # Redis or Redis Cluster of the event bus, redis:// or unix:///path; default SHANGHAI_REDIS_URL
    broker_url: Url  # Celery's broker, redis or amqp; default SHANGHAI_REDIS_URL
    limits_url: RedisUrl  # Redis of the rate limits and of who is alive; default SHANGHAI_REDIS_URL
    secret_key: bytes  # encrypts seeds and webhook secrets; 32 bytes, given as 64 hex digits; no default
    host: str = "127.0.0.1"  # address that the API listens on
    port: Annotated[int, Meta(ge=1, le=65_535)] = 8000  # TCP port that the API listens on
    metrics_host: str = "127.0.0.1"  # address of the port below; 0.0.0.0 where probes come from outside
    metrics_port: MetricsPort = 0  # of this process's /metrics and /health; 0: none
    traces_url: Annotated[str, Meta(pattern=r"^(https?://.*)?$")] = ""  # where traces go, OTLP over HTTP; empty: none
    traces_ratio: Annotated[float, Meta(ge=0, le=1)] = 0.1  # share of commands that are traced
    disk_folder: str = ""  # whose disk the clock tells of, where Postgres lies on its machine; `shanghai up` sets it
    log_format: Literal["auto", "json", "text"] = "auto"  # of log lines; auto: text on a terminal, otherwise JSON
    log_level: Literal["debug", "info", "warning", "error"] = "info"  # the least that is logged
    bus_shards: UpTo64 = 1  # streams of the bus; changed only while every process is stopped
    bus_maxlen: Annotated[int, Meta(ge=100, le=10_000_000)] = 20_000  # entries kept per stream of the bus
    reads_per_s: UpToMillion = 100  # per token; `shanghai up` sets this and the other limits fiftyfold and more
    reads_burst: UpToMillion = 200  # reads at once per token, after silence
    costly_read: UpToMillion = 10  # reads that a replay, an export, a hint, a dry run and the like count as
    moves_per_s: UpToMillion = 20  # requests that change something, per token
    moves_burst: UpToMillion = 60  # of these at once per token, after silence
    games_per_minute: UpToMillion = 10  # games opened per token
    games_unfinished: UpToMillion = 20  # games that a player has opened and that are not over
    guests_per_minute: UpToMillion = 20  # new players per address
    streams_per_token: UpToMillion = 10  # open at once in one API process
    streams_per_address: UpToMillion = 100  # open at once in one API process
    strangers_per_s: UpToMillion = 20  # requests without a known token, per address
    strangers_burst: UpToMillion = 100  # of these at once per address, after silence
    webhook_tries_per_minute: UpToMillion = 10  # tests, redeliveries and switchings on of webhooks, per player
    trusted_proxies: str = ""  # in front, believed about the client: networks (10.0.0.0/8, …) and `unix`
    forwarded_header: Literal["x-forwarded-for", "forwarded"] = "x-forwarded-for"  # where they name the client
    cors_origins: str = ""  # websites that may call the API from a browser: https://a.example,https://b.example or *
    worker_concurrency: UpTo64 = 1  # pool processes of one Celery worker
    webhook_targets: Literal["global", "any"] = "global"  # `any`: http, other ports, private addresses; development

    def __repr__(self) -> str:
        """Shows neither the key nor a URL's user and password."""
        return f"Settings({', '.join(f'{field.name}={_shown(self, field.name)}' for field in fields(self))})"


NO_FIELDS = {
    "redis_url": "Redis of everything whose own address is not set, redis:// or unix:///path",
    "backup_database_url": "the same cluster as `shanghai backup` logs in; default SHANGHAI_DATABASE_URL",
    "operator_database_url": "the same database as an operator's commands log in; default SHANGHAI_DATABASE_URL",
}
"""Variables without a field of their own, with what they mean."""


class SettingRefused(ValueError):
    """A variable is missing or its value cannot be used; the text is one line that names it."""


def read_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Reads all settings, by default from the process's own environment.

    Errors: SettingRefused for the first bad variable or file. An empty value counts as absent.
    """
    values: dict[str, object] = dict(_given(environ))
    for name in ("bus_url", "broker_url", "limits_url"):
        values.setdefault(name, values.get("redis_url"))
    values.setdefault("projector_database_url", values.get("database_url"))
    for name in ("database_url", "bus_url", "broker_url", "limits_url", "secret_key"):
        if values.get(name) is None:
            raise SettingRefused(f"{_variable(name)} is not set{_ALSO.get(name, ', nor is SHANGHAI_REDIS_URL')}")
    values["broker_url"] = _broker_form(str(values["broker_url"]))
    _check_networks(str(values.get("trusted_proxies", "")))
    values["secret_key"] = _key(str(values["secret_key"]))
    return _checked(values)


def settings_or_exit() -> Settings:
    """Reads all settings as a process does that cannot go on without: a bad one is one line and exit code 2."""
    try:
        return read_settings()
    except SettingRefused as error:
        sys.stderr.write(f"shanghai: {error}\n")
        sys.exit(2)


def read_database_url(environ: Mapping[str, str] | None = None, *, of: str = "") -> str:
    """Reads SHANGHAI_DATABASE_URL alone: all that a migration needs.

    of: `operator` reads SHANGHAI_OPERATOR_DATABASE_URL where it is set, `backup` SHANGHAI_BACKUP_DATABASE_URL.
    """
    given = _given(environ)
    url = given.get(f"{of}_database_url") or given.get("database_url")
    if url is None:
        raise SettingRefused("SHANGHAI_DATABASE_URL is not set")
    return url


def read_metrics_port(environ: Mapping[str, str] | None = None) -> int:
    """Reads SHANGHAI_METRICS_PORT alone: all that a probe on the same machine needs."""
    given = (os.environ if environ is None else environ).get("SHANGHAI_METRICS_PORT") or "0"
    try:
        port = msgspec.convert(given, MetricsPort, strict=False)
    except msgspec.ValidationError as error:
        raise SettingRefused(f"SHANGHAI_METRICS_PORT: {error}") from None
    if not port:
        raise SettingRefused("SHANGHAI_METRICS_PORT is not set: the process has no port to ask")
    return port


def environment(changed: Mapping[str, str]) -> dict[str, str]:
    """Is this process's own environment with some variables changed, as a child process gets it.

    A changed variable stands for itself: the file that named its value before is not named any more.
    """
    kept = {name: value for name, value in os.environ.items() if name.removesuffix(_FILE) not in changed}
    return {**kept, **changed}


def share_numbers(folder: Path) -> None:
    """Has this process and those that it forks keep their numbers in files in `folder`; before any number is made."""
    os.environ[_NUMBERS] = str(folder)


def numbers_folder() -> str:
    """Names the folder of shared numbers; empty where each process keeps its own."""
    return os.environ.get(_NUMBERS, "")


def unknown_variables(environ: Mapping[str, str] | None = None) -> list[str]:
    """Names the variables that begin as settings do and that nothing reads."""
    known = {_variable(name) for name in (*Settings.__struct_fields__, *NO_FIELDS)}
    environ = os.environ if environ is None else environ
    return sorted(
        name
        for name in environ
        if name.startswith(_PREFIX)
        and name not in known
        and not (
            name.removesuffix(_FILE) in known and is_secret(name.removeprefix(_PREFIX).removesuffix(_FILE).lower())
        )
    )


def is_given(variable: str) -> bool:
    """Tells whether a variable is set, by itself or by a file."""
    return bool(os.environ.get(variable) or os.environ.get(variable + _FILE))


def is_secret(name: str) -> bool:
    """Tells whether a setting may hold a secret, a password in a URL included: it may be given by a file."""
    return name.endswith(("_url", "_key", "_password", "_secret"))


_PREFIX = "SHANGHAI_"
_NUMBERS = "PROMETHEUS_MULTIPROC_DIR"  # the library reads it itself
_FILE = "_FILE"
_ALSO = {"database_url": "", "secret_key": "; it is 64 hex digits, made by: openssl rand -hex 32"}


def _given(environ: Mapping[str, str] | None) -> dict[str, str]:
    environ = os.environ if environ is None else environ
    given = {
        variable.removeprefix(_PREFIX).lower(): value
        for variable, value in environ.items()
        if variable.startswith(_PREFIX) and value
    }
    for name, path in [*given.items()]:
        secret = name.removesuffix(_FILE.lower())
        if secret != name and is_secret(secret):
            if secret in given:
                raise SettingRefused(f"{_variable(secret)} and {_variable(name)} are both set: one of them has to go")
            given[secret] = _content(_variable(name), Path(path))
    return given


def _content(variable: str, path: Path) -> str:
    """Reads a secret's file, without the line's end that editors add. Errors: SettingRefused, never with content."""
    try:
        text = path.read_text("utf-8").strip()
    except OSError as error:
        raise SettingRefused(f"{variable}: cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingRefused(f"{variable}: {path} is not text") from None
    if not text:
        raise SettingRefused(f"{variable}: {path} is empty")
    return text


def _variable(name: str) -> str:
    return _PREFIX + name.upper()


def _broker_form(url: str) -> str:
    """Spells a unix socket the way Celery does: redis+socket:///path?virtual_host=0."""
    parts = urlsplit(url)
    if parts.scheme != "unix":
        return url
    number = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.netloc}{parts.path}?virtual_host={number}"


def _key(text: str) -> bytes:
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != 32:
        raise SettingRefused("SHANGHAI_SECRET_KEY must be 64 hex digits")
    return key


def _check_networks(text: str) -> None:
    for name in filter(None, (name.strip() for name in text.split(","))):
        try:
            name == "unix" or ip_network(name)
        except ValueError as error:
            raise SettingRefused(f"SHANGHAI_TRUSTED_PROXIES: {error}") from None


def _checked(values: dict[str, object]) -> Settings:
    try:
        return msgspec.convert(values, Settings, strict=False)
    except msgspec.ValidationError as error:
        fault, _, path = str(error).partition(" - at `$.")
        raise SettingRefused(f"{_variable(path.rstrip('`'))}: {fault}") from None


def _shown(settings: Settings, name: str) -> str:
    if not is_secret(name):
        return repr(getattr(settings, name))
    return re.sub(r"//.*@", "//", getattr(settings, name)) if name.endswith("_url") else "…"
