-- name: late
-- How long the oldest event waits that the projector has not come to; the barrier below which relay and projector read.
SELECT
    coalesce((
        SELECT extract(epoch FROM clock_timestamp() - occurred_at)::float8
        FROM event
        WHERE (event.xid, event.gseq) > (place.xid, place.gseq)
        ORDER BY event.xid, event.gseq
        LIMIT 1
    ), 0) AS projector_lag_s,
    pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS barrier,
    pg_snapshot_xmin(pg_current_snapshot()) < pg_snapshot_xmax(pg_current_snapshot()) AS is_held
FROM projection AS place
WHERE build = (SELECT max(build) FROM projection WHERE is_served);

-- name: overdue
-- Games whose newest work row should have been done, and by how many seconds the longest waits; at most 10,000.
SELECT kind, count(*) AS games, count(*) FILTER (WHERE late_s > $2) AS stalled, max(late_s) AS longest_s
FROM (
    SELECT kind, extract(epoch FROM now() - due_at)::float8 AS late_s
    FROM work
    WHERE due_at <= now() - make_interval(secs => $1) AND kind <> 0 AND NOT EXISTS (
        SELECT FROM work AS newer WHERE newer.game_id = work.game_id AND newer.version > work.version
    )
    LIMIT 10000
) AS late
GROUP BY kind;

-- name: live
-- Games that go on: each has a newest work row that says what must happen next; kind 7 waits to expire unstarted.
SELECT count(*) FILTER (WHERE kind = 7) AS waiting, count(*) FILTER (WHERE kind <> 7) AS playing
FROM (SELECT DISTINCT ON (game_id) kind FROM work ORDER BY game_id, version DESC) AS newest
WHERE kind <> 0;

-- name: size
SELECT pg_database_size(current_database()) AS bytes, EXISTS (SELECT FROM event_default) AS is_astray;

-- name: webhooks
-- What waits to be sent, up to $1; webhooks to which something may be sent now, and of whose oldest 100 messages one waits
-- for no earlier one of its game; how long the oldest event waits that was not announced, where anybody listens.
SELECT
    (SELECT count(*) FROM (SELECT FROM webhook_delivery WHERE state = 'waiting' LIMIT $1) AS delivery) AS waiting,
    (
        SELECT count(*)
        FROM webhook JOIN player USING (player_id)
        WHERE disabled IS NULL AND suspended_at IS NULL
            AND greatest(resume_at, rests_until) <= statement_timestamp() AND EXISTS (
                SELECT FROM (
                    SELECT * FROM webhook_delivery AS waiting
                    WHERE waiting.webhook_id = webhook.webhook_id AND state = 'waiting'
                        AND due_at <= statement_timestamp() AND leased_until <= statement_timestamp()
                    ORDER BY due_at
                    LIMIT 100
                ) AS delivery
                WHERE NOT EXISTS (
                    SELECT FROM webhook_delivery AS earlier
                    WHERE earlier.webhook_id = delivery.webhook_id AND earlier.game_id = delivery.game_id
                        AND earlier.state = 'waiting'
                        AND (earlier.version, earlier.is_decision) < (delivery.version, delivery.is_decision)
                )
            )
    ) AS due,
    coalesce((
        SELECT extract(epoch FROM clock_timestamp() - occurred_at)::float8
        FROM event
        WHERE (event.xid, event.gseq) > (place.xid, place.gseq)
            AND EXISTS (SELECT FROM webhook WHERE disabled IS NULL)
        ORDER BY event.xid, event.gseq
        LIMIT 1
    ), 0) AS lag
FROM webhook_place AS place;

-- name: webhook_states
SELECT coalesce(disabled, 'on') AS state, count(*) AS webhooks FROM webhook GROUP BY 1;

-- name: tickets
SELECT
    (SELECT count(*) FROM match_ticket WHERE state = 'waiting') AS tickets,
    coalesce((
        SELECT extract(epoch FROM statement_timestamp() - min(created_at)) FROM match_ticket WHERE state = 'waiting'
    ), 0)::float8 AS longest,
    coalesce((
        SELECT extract(epoch FROM statement_timestamp() - min(ended_at)) FROM match_ticket WHERE state = 'seated'
    ), 0)::float8 AS seated;
