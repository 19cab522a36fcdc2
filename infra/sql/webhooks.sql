-- name: add
-- The player's row is held against all others who add for the same player, so that none is one too many.
WITH owner AS (
    SELECT player_id FROM player WHERE player_id = $2 FOR NO KEY UPDATE
)
INSERT INTO webhook (webhook_id, player_id, url, types, game_id, description, secret)
SELECT $1, player_id, $3, $4, $5, $6, $7
FROM owner
WHERE webhooks_of(player_id) < $8 AND token_lives(player_id, $9)
RETURNING *;

-- name: owned
SELECT * FROM webhook WHERE player_id = $1 ORDER BY webhook_id;

-- name: find
SELECT * FROM webhook WHERE player_id = $1 AND webhook_id = $2;

-- name: change
WITH owner AS (
    SELECT player_id AS owner_id FROM player WHERE player_id = $1 FOR NO KEY UPDATE
)
UPDATE webhook
SET url = coalesce($3, url), types = coalesce($4, types), description = coalesce($5, description),
    disabled = CASE $6::boolean WHEN false THEN coalesce(disabled, 'owner') WHEN true THEN NULL ELSE disabled END,
    failures = CASE WHEN $6 THEN 0 ELSE failures END,
    failing_since = CASE WHEN $6 THEN NULL ELSE failing_since END,
    resume_at = CASE WHEN $6 THEN '-infinity' ELSE resume_at END,
    rests_until = CASE WHEN $6 OR $3 IS NOT NULL THEN '-infinity' ELSE rests_until END
FROM owner
WHERE player_id = owner_id AND webhook_id = $2 AND token_lives(owner_id, $7)
RETURNING webhook.*;

-- name: rotate
WITH owner AS (
    SELECT player_id AS owner_id FROM player WHERE player_id = $1 FOR NO KEY UPDATE
)
UPDATE webhook
SET secret = $3, old_secret = secret, old_secret_until = statement_timestamp() + make_interval(secs => $4)
FROM owner
WHERE player_id = owner_id AND webhook_id = $2 AND token_lives(owner_id, $5)
RETURNING webhook.*;

-- name: remove
DELETE FROM webhook WHERE player_id = $1 AND webhook_id = $2 RETURNING webhook_id;

-- name: ping
INSERT INTO webhook_delivery (delivery_id, webhook_id, is_decision, type) VALUES ($1, $2, false, $3) RETURNING *;

-- name: deliveries
SELECT * FROM webhook_delivery
WHERE webhook_id = $1 AND delivery_id < $2
ORDER BY delivery_id DESC
LIMIT $3;

-- name: send_again
UPDATE webhook_delivery
SET state = 'waiting', attempts = 0, due_at = statement_timestamp(), leased_until = '-infinity'
WHERE webhook_id = $1 AND delivery_id = $2
RETURNING *;

-- name: claim
-- $3: so often a delivery is tried while later ones of its game wait for it; $4: seconds.
WITH claimed AS (
    SELECT delivery_id
    FROM webhook_delivery AS delivery
    WHERE webhook_id = $1 AND state = 'waiting'
        AND due_at <= statement_timestamp() AND leased_until <= statement_timestamp()
        AND NOT EXISTS (
            SELECT FROM webhook_delivery AS earlier
            WHERE earlier.webhook_id = $1 AND earlier.game_id = delivery.game_id AND earlier.state = 'waiting'
                AND (earlier.version, earlier.is_decision) < (delivery.version, delivery.is_decision)
                AND (earlier.attempts < $3 OR earlier.leased_until > statement_timestamp())
        )
        AND EXISTS (
            SELECT FROM webhook JOIN player USING (player_id)
            WHERE webhook_id = $1 AND disabled IS NULL AND suspended_at IS NULL
                AND greatest(resume_at, rests_until) <= statement_timestamp()
        )
    ORDER BY due_at, delivery_id
    LIMIT $2
    FOR NO KEY UPDATE OF delivery SKIP LOCKED
)
UPDATE webhook_delivery AS delivery
SET attempts = attempts + 1, leased_until = statement_timestamp() + make_interval(secs => $4),
    attempted_at = statement_timestamp()
FROM claimed, webhook
WHERE delivery.delivery_id = claimed.delivery_id AND webhook.webhook_id = $1
RETURNING delivery.delivery_id, delivery.type, delivery.game_id, delivery.version, delivery.attempts,
    delivery.created_at, webhook.player_id, webhook.url, webhook.secret,
    CASE WHEN webhook.old_secret_until > statement_timestamp() THEN webhook.old_secret END AS old_secret;

-- name: settle
-- Only for the attempt that it is about, by its number. $8: what the attempt says of the webhook: true for well, false
-- for ill, null for nothing; $9: pauses after failures in a row; $10: seconds after which one that fails is switched off;
-- $11: nothing was sent. Where the host is away ($15), the other webhooks of player $12 at host $13 rest $14 seconds
-- longer than this one pauses, so that this one tries first; else their rest is over. Rows are locked in one order,
-- since two webhooks at one host are settled at once.
WITH settled AS (
    UPDATE webhook_delivery
    SET state = $4, status = $5, fault = $6, leased_until = '-infinity', attempts = attempts - $11::boolean::integer,
        due_at = CASE WHEN $7::double precision IS NULL THEN due_at
            ELSE statement_timestamp() + make_interval(secs => $7) END
    WHERE delivery_id = $1 AND attempts = $3 AND state = 'waiting'
    RETURNING webhook_id
), concerned AS (
    SELECT webhook.webhook_id
    FROM settled, webhook
    WHERE player_id = $12 AND $8::boolean IS NOT NULL AND CASE
        WHEN webhook.webhook_id = $2 THEN NOT ($8::boolean AND failures = 0 AND rests_until = '-infinity')
        WHEN lower(substring(url FROM '://([^/?#]*)')) <> $13 THEN false
        ELSE $15::boolean OR rests_until <> '-infinity' END
    ORDER BY webhook_id
    FOR NO KEY UPDATE OF webhook
), pause AS (
    SELECT statement_timestamp() + make_interval(secs => ($9::double precision[])[
        least(failures + 1, cardinality($9::double precision[]))
    ]) AS until
    FROM webhook
    WHERE webhook_id = $2
), others AS (
    UPDATE webhook
    SET rests_until = CASE WHEN $15::boolean THEN greatest(rests_until, pause.until + make_interval(secs => $14))
        ELSE '-infinity' END
    FROM concerned, pause
    WHERE webhook.webhook_id = concerned.webhook_id AND webhook.webhook_id <> $2
)
UPDATE webhook
SET rests_until = '-infinity',
    failures = CASE WHEN $8::boolean THEN 0 ELSE failures + 1 END,
    failing_since = CASE WHEN NOT $8::boolean THEN coalesce(failing_since, statement_timestamp()) END,
    resume_at = CASE WHEN $8::boolean THEN '-infinity' ELSE pause.until END,
    disabled = CASE
        WHEN $8::boolean THEN disabled
        WHEN $5 = 410 THEN coalesce(disabled, 'gone')
        WHEN failing_since < statement_timestamp() - make_interval(secs => $10) THEN coalesce(disabled, 'failing')
        ELSE disabled END
FROM concerned, pause
WHERE webhook.webhook_id = concerned.webhook_id AND webhook.webhook_id = $2;

-- name: due
SELECT webhook_id
FROM webhook JOIN player USING (player_id)
WHERE disabled IS NULL AND greatest(resume_at, rests_until) <= statement_timestamp() AND suspended_at IS NULL AND EXISTS (
    SELECT FROM webhook_delivery AS delivery
    WHERE delivery.webhook_id = webhook.webhook_id AND state = 'waiting'
        AND due_at <= statement_timestamp() AND leased_until <= statement_timestamp()
)
LIMIT $1;

-- name: forget_old
WITH forgotten AS (
    DELETE FROM webhook_delivery
    WHERE delivery_id = ANY (ARRAY(
        SELECT delivery_id FROM webhook_delivery
        WHERE created_at < statement_timestamp() - make_interval(secs => $1)
        ORDER BY created_at
        LIMIT $2
    ))
    RETURNING 1
)
SELECT count(*) FROM forgotten;

-- name: disable_behind
WITH behind AS (
    SELECT webhook_id FROM webhook
    WHERE disabled IS NULL AND webhook_id IN (
        SELECT webhook_id FROM webhook_delivery WHERE state = 'waiting' GROUP BY webhook_id HAVING count(*) > $1
    )
    ORDER BY webhook_id
    FOR NO KEY UPDATE
)
UPDATE webhook SET disabled = 'behind' FROM behind WHERE webhook.webhook_id = behind.webhook_id
RETURNING webhook.webhook_id;

-- name: take_over
-- A place that comes from a cluster that had counted further than this one is left for the barrier.
UPDATE webhook_place
SET epoch = epoch + 1,
    xid = CASE WHEN xid >= pg_snapshot_xmax(pg_current_snapshot()) THEN pg_snapshot_xmin(pg_current_snapshot())
        ELSE xid END
RETURNING epoch, xid, gseq;

-- name: barrier
-- Whether anybody listens, and the place before which nothing is under way any more, in one snapshot: a webhook that it
-- does not see is added at or after that place.
SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xid, EXISTS (SELECT FROM webhook WHERE disabled IS NULL) AS is_wanted;

-- name: seat_changes
SELECT xid, gseq, game_id, version, type, schema, actor, round, command_id, occurred_at, payload
FROM event
WHERE game_id = $1 AND version < $2 AND type = ANY ($3::smallint[])
ORDER BY version;

-- name: listeners
SELECT webhook_id, player_id, types, game_id, webhook.created_at
FROM webhook JOIN player USING (player_id)
WHERE player_id = ANY ($1::uuid[]) AND disabled IS NULL AND suspended_at IS NULL;

-- name: announce
-- Deliveries and place together, or nothing where somebody else has taken over.
WITH place AS (
    UPDATE webhook_place SET xid = $2, gseq = $3 WHERE epoch = $1 RETURNING epoch
), new AS (
    INSERT INTO webhook_delivery (delivery_id, webhook_id, game_id, version, is_decision, type)
    SELECT new.*
    FROM place, unnest($4::uuid[], $5::uuid[], $6::uuid[], $7::integer[], $8::boolean[], $9::text[]) AS new
    ON CONFLICT DO NOTHING
)
SELECT epoch FROM place;
