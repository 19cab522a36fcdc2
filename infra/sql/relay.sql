-- name: try_lead
SELECT pg_try_advisory_lock($1);

-- name: younger_cluster
-- Positions are transaction numbers: rows from a cluster that had counted further would never come before the barrier.
SELECT greatest(
    (SELECT xid FROM event ORDER BY xid DESC, gseq DESC LIMIT 1),
    (SELECT xid FROM relay_checkpoint)
) >= pg_snapshot_xmax(pg_current_snapshot());

-- name: checkpoints
-- The tables that hold a place in the log's order.
SELECT quote_ident(table_name) FROM information_schema.columns
WHERE table_schema = 'public' AND column_name IN ('epoch', 'xid', 'gseq')
GROUP BY table_name
HAVING count(*) = 3;

-- name: renumber_checkpoint
-- The same place in the new numbers: as many rows come before it. A new epoch shuts out whoever held the old one.
UPDATE {table} AS place
SET epoch = epoch + 1, xid = '3', gseq = (
    SELECT count(*) FROM event WHERE (event.xid, event.gseq) <= (place.xid, place.gseq)
);

-- name: renumber
-- One transaction number below every barrier (3 is the lowest that Postgres gives out), and the old order in gseq.
UPDATE event SET xid = '3', gseq = renumbered.place
FROM (SELECT game_id, version, row_number() OVER (ORDER BY xid, gseq) AS place FROM event) AS renumbered
WHERE event.game_id = renumbered.game_id AND event.version = renumbered.version;

-- name: next_number
-- New rows come after the old ones, also where a restored sequence lags behind.
SELECT setval('event_gseq', greatest(nextval('event_gseq'), (SELECT coalesce(max(gseq), 0) + 1 FROM event)));

-- name: take_over
UPDATE relay_checkpoint SET epoch = epoch + 1 RETURNING epoch, xid, gseq;

-- name: save
UPDATE relay_checkpoint SET xid = $2, gseq = $3, saved_at = statement_timestamp() WHERE epoch = $1 RETURNING 1;

-- name: batch
-- Below the barrier nothing is under way any more: what is visible there is all there will ever be.
-- `told` is the entry of the bus (bus/entries.py reads it), made here so that the relay passes on bytes.
SELECT event.xid, gseq, uuid_send(game_id), version,
    uuid_send(game_id) || int4send(version) || int2send(type) || int2send(schema) || int2send(actor)
        || int2send(coalesce(round, 0::smallint)) || uuid_send(command_id) || timestamptz_send(occurred_at)
        || CASE WHEN type = ANY ($4::smallint[]) THEN '' ELSE payload END AS told,
    kind, CASE WHEN kind > 0 THEN extract(epoch FROM due_at - occurred_at)::float8 END AS due_s
FROM event LEFT JOIN work USING (game_id, version)
WHERE (event.xid, gseq) > ($1, $2) AND event.xid < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY event.xid, gseq
LIMIT $3;

-- name: lag
-- The oldest event that the relay has not saved as told, and whether something that began before it still writes.
SELECT extract(epoch FROM clock_timestamp() - occurred_at)::float8 AS seconds,
    next.xid >= pg_snapshot_xmin(pg_current_snapshot()) AS is_held_back
FROM relay_checkpoint, LATERAL (
    SELECT event.xid, occurred_at
    FROM event
    WHERE (event.xid, event.gseq) > (relay_checkpoint.xid, relay_checkpoint.gseq)
    ORDER BY event.xid, event.gseq
    LIMIT 1
) AS next;

-- name: replay_start
SELECT xid, gseq
FROM (
    SELECT xid, gseq, occurred_at
    FROM event
    WHERE (xid, gseq) <= ($1, $2)
    ORDER BY xid DESC, gseq DESC
    LIMIT $4
) AS last
WHERE occurred_at > now() - make_interval(secs => $3)
ORDER BY xid, gseq
LIMIT 1;
