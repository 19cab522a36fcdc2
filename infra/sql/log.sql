-- name: append
-- For one game or several, each of them whole or not at all: a game whose head is not the given one is left out, and
-- the answer names those that were written. The heads are read in the snapshot that comes before the transaction's
-- number, so that the order of transactions stays the order of events within a game. Appends come in the order of
-- games, so that two processes never wait for each other in a circle; events in that of versions, as gseq shall rise.
WITH fit AS MATERIALIZED (
    SELECT *
    FROM unnest($1::new_append[]) AS append
    WHERE after = coalesce((SELECT max(version) FROM event WHERE event.game_id = append.game_id), 0)
), receipts AS (
    INSERT INTO idempotency
        (game_id, principal, operation, key, fingerprint, command_id, first_version, last_version)
    SELECT game_id, principal, operation, key, fingerprint, command_id, after + 1, last_of_command
    FROM fit
    WHERE principal IS NOT NULL
), events AS (
    INSERT INTO event (game_id, version, type, schema, actor, round, ordinal, command_id, payload)
    SELECT game_id, (new).version, (new).type, (new).schema, (new).actor, (new).round, (new).ordinal,
        (new).command_id, (new).payload
    FROM (SELECT game_id, unnest(events) AS new FROM fit) AS told
), works AS (
    INSERT INTO work (game_id, version, kind, due_at)
    SELECT game_id, last_version, kind,
        CASE kind WHEN 0 THEN 'infinity' ELSE coalesce(at, statement_timestamp()) + delay END
    FROM fit
)
SELECT statement_timestamp() AS at, ARRAY(SELECT game_id FROM fit) AS written;

-- name: read
-- One row: the payloads, and all that is of fixed size packed into one string, as the reader takes it apart. The game
-- stands in a SELECT of its own so that one plan does for all games: else each reading is planned for its partition.
SELECT string_agg(int2send(type) || int2send(schema) || int2send(actor) || int2send(coalesce(round, -1::smallint))
        || uuid_send(command_id) || timestamptz_send(occurred_at), ''::bytea),
    array_agg(payload)
FROM (SELECT * FROM event WHERE game_id = (SELECT $1::uuid) AND version > $2 ORDER BY version) AS tail;

-- name: receipt
SELECT fingerprint, command_id, first_version, last_version
FROM idempotency
WHERE game_id = $1 AND principal = $2 AND operation = $3 AND key = $4;

-- name: command_range
SELECT first.version AS first_version, max(event.version) AS last_version, first.occurred_at
FROM event AS first JOIN event USING (game_id, command_id)
WHERE first.game_id = $1 AND first.command_id = $2 AND first.ordinal = 0 AND event.version >= first.version
GROUP BY first.version, first.occurred_at;

-- name: heads
-- In the order in which they are asked for, null for an unknown game; one row costs half as much to read as many.
SELECT array(
    SELECT (SELECT max(version) FROM event WHERE event.game_id = asked.game_id)
    FROM unnest($1::uuid[]) WITH ORDINALITY AS asked (game_id, place)
    ORDER BY place
) AS versions;

-- name: poke
SELECT pg_notify('shanghai_events', '');

-- name: generation
-- The relay's positions mean something within one timeline of one cluster's database only.
SELECT to_hex(system_identifier) || '-' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
    || '-' || (SELECT oid FROM pg_database WHERE datname = current_database())
FROM pg_control_system();
