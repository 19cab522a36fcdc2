"""The ports' adapters over Postgres."""
