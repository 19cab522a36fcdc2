"""Postgres, Redis and every process of the server from one command, without Docker or a system service."""


class CannotRun(RuntimeError):
    """The embedded server cannot start or go on; the text tells an operator why and where to look."""
