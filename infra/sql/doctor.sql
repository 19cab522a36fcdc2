-- name: server
SELECT current_setting('server_version_num')::integer AS version, current_setting('server_version') AS named,
    current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
    current_setting('synchronous_commit') AS synchronous_commit,
    current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer AS allowed,
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections;

-- name: now
SELECT clock_timestamp();

-- name: login
SELECT session_user AS name, rolsuper AS is_superuser, rolcreaterole OR rolcreatedb OR rolbypassrls AS is_mighty
FROM pg_roles
WHERE rolname = session_user;

-- name: roles
SELECT rolname AS name, rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls OR rolcanlogin AS is_mighty
FROM pg_roles
WHERE rolname = ANY ($1::text[]);

-- name: rights
SELECT role, thing, privilege, has_table_privilege(role, thing, privilege) AS is_held
FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (role, thing, privilege)
WHERE to_regclass(thing) IS NOT NULL;

-- name: migrations
SELECT name, sha256 FROM schema_migration;

-- name: partitions
SELECT month
FROM (SELECT to_char(now() AT TIME ZONE 'UTC' + make_interval(months => ahead), 'YYYY_MM')
    FROM generate_series(0, $1) AS ahead) AS wanted (month)
WHERE to_regclass('event_' || month) IS NULL
ORDER BY month;

-- name: astray
SELECT game_id FROM event_default LIMIT 1;

-- name: writers
-- Postgres hides when those of other logins began; the relay's lag tells of them.
SELECT pid, coalesce(nullif(application_name, ''), 'without a name') AS name,
    extract(epoch FROM clock_timestamp() - xact_start)::float8 AS age_s
FROM pg_stat_activity
WHERE backend_xid IS NOT NULL AND xact_start < clock_timestamp() - make_interval(secs => $1)
ORDER BY xact_start
LIMIT 1;

-- name: sealed
(SELECT game_id FROM game_secret ORDER BY game_id DESC LIMIT 3)
UNION
(SELECT game_id FROM game_secret ORDER BY game_id LIMIT 3);

-- name: data_directory
SELECT current_setting('data_directory') AS folder, inet_server_addr() IS NULL AS is_here;

-- name: leaders
-- Which of the server's processes hold these locks: a number of 64 bits is written there as two of 32.
SELECT objid::bigint AS lock, pid
FROM pg_locks
WHERE locktype = 'advisory' AND granted AND classid = 0 AND objsubid = 1 AND objid = ANY ($1::oid[])
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database());
