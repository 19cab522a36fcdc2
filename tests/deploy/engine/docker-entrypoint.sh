#!/bin/sh
# Starts Postgres on PGDATA, which is made where it is empty: superuser `postgres`, whose password is POSTGRES_PASSWORD.
set -eu
[ "$1" = postgres ] || exec "$@"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  printf '%s' "$POSTGRES_PASSWORD" > /tmp/password
  initdb --pgdata="$PGDATA" --username=postgres --pwfile=/tmp/password --auth-host=scram-sha-256 --auth-local=trust
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  pg_ctl --pgdata="$PGDATA" --options='-c listen_addresses=' --wait start
  for file in /docker-entrypoint-initdb.d/*.sql; do
    [ -e "$file" ] && psql --username=postgres --set=ON_ERROR_STOP=1 --file="$file"
  done
  pg_ctl --pgdata="$PGDATA" --wait stop
fi
exec "$@" -D "$PGDATA" -c listen_addresses='*'
