"""Postgres, Redis and every process of the server from one command, without Docker or a system service."""
