-- name: contents
SELECT count(*) FILTER (WHERE version = 1) AS games, count(*) AS events, max(occurred_at) AS last_at FROM event;

-- name: faults
-- What no log may have, each with the number of its cases; a whole log gives no row. Reads every event once. Receipts of
-- archived months have no events.
WITH head AS MATERIALIZED (
    SELECT game_id, count(*) AS events, min(version) AS first, max(version) AS last FROM event GROUP BY game_id
), found AS (
    SELECT 'games with holes' AS what, count(*) FROM head WHERE first <> 1 OR last <> events
    UNION ALL
    SELECT 'receipts without their events', count(*)
    FROM idempotency LEFT JOIN head USING (game_id)
    WHERE last_version > coalesce(last, 0) AND NOT EXISTS (
        SELECT FROM archived_month WHERE game_id >= first_id AND game_id < end_id
    )
    UNION ALL
    SELECT 'work without its events', count(*)
    FROM work LEFT JOIN head USING (game_id) WHERE work.version > coalesce(last, 0)
    UNION ALL
    SELECT 'events in one place', count(*) - count(DISTINCT (xid, gseq)) FROM event
    UNION ALL
    SELECT 'events ahead of the cluster', count(*) FROM event WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())
)
SELECT what, count FROM found WHERE count > 0;
