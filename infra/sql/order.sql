-- name: end
-- Everything below the barrier is settled, so the place is the end of the last transaction below it.
SELECT pg_snapshot_xmin(pg_current_snapshot()) AS barrier;

-- name: after
-- The events themselves only where they may make the game somebody's own.
SELECT xid, gseq, game_id, version, type, schema, CASE WHEN type = ANY ($4::smallint[]) THEN payload END AS payload
FROM event
WHERE (xid, gseq) > ($1, $2) AND xid < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY xid, gseq
LIMIT $3;

-- name: missed
-- Of each game first its head, by its key: most games have not gone on, and of those that have all is read.
SELECT event.xid, event.gseq, event.game_id, event.version
FROM (
    SELECT own.game_id
    FROM unnest($1::uuid[]) AS own (game_id), LATERAL (
        SELECT xid, gseq FROM event WHERE event.game_id = own.game_id ORDER BY version DESC LIMIT 1
    ) AS head
    WHERE (head.xid, head.gseq) > ($2, $3)
    OFFSET 0
) AS moved JOIN event USING (game_id)
WHERE (event.xid, event.gseq) > ($2, $3) AND event.xid < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY event.xid, event.gseq
LIMIT $4;

-- name: heads
SELECT own.game_id, head.version
FROM unnest($1::uuid[]) AS own (game_id), LATERAL (
    SELECT version
    FROM event
    WHERE event.game_id = own.game_id AND xid < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY version DESC
    LIMIT 1
) AS head;
