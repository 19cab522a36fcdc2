-- name: keep
INSERT INTO match_ticket
    (ticket_id, player_id, token_id, ruleset, min_players, max_players, pace, bots_after_s, rating)
SELECT $1, player_id, $3, $4, $5, $6, $7, $8, $9 FROM player WHERE player_id = $2 FOR KEY SHARE
ON CONFLICT DO NOTHING;

-- name: kept
SELECT *, statement_timestamp() AS now FROM match_ticket WHERE ticket_id = $1;

-- name: find
-- A look within ten seconds of the one before is not written down.
WITH seen AS (
    UPDATE match_ticket SET seen_at = statement_timestamp()
    WHERE ticket_id = $1 AND player_id = $2 AND state = 'waiting'
        AND seen_at < statement_timestamp() - interval '10 seconds'
)
SELECT *, statement_timestamp() AS now FROM match_ticket WHERE ticket_id = $1 AND player_id = $2;

-- name: of_player
WITH seen AS (
    UPDATE match_ticket SET seen_at = statement_timestamp()
    WHERE player_id = $1 AND state = 'waiting' AND seen_at < statement_timestamp() - interval '10 seconds'
)
SELECT *, statement_timestamp() AS now FROM match_ticket WHERE player_id = $1 ORDER BY ticket_id DESC LIMIT $2;

-- name: cancel
UPDATE match_ticket SET state = 'cancelled', ended_at = statement_timestamp()
WHERE ticket_id = $1 AND player_id = $2 AND state = 'waiting';

-- name: waiting
-- $2: the paces of the classes; what asks for another one comes after all those.
SELECT *, statement_timestamp() AS now FROM match_ticket
WHERE state = 'waiting'
ORDER BY pace = ANY ($2::text[]) DESC, created_at, ticket_id
LIMIT $1;

-- name: expire
UPDATE match_ticket SET state = 'expired', ended_at = statement_timestamp(), game_id = NULL, seat = NULL, seats = NULL
WHERE ticket_id = ANY ($1::uuid[]) AND state IN ('waiting', 'seated');

-- name: seat
-- All or none: a row that somebody else holds or has changed is missing in `free`, and then nothing is written.
WITH free AS (
    SELECT ticket_id FROM match_ticket
    WHERE ticket_id = ANY ($2::uuid[]) AND state = 'waiting'
    FOR UPDATE SKIP LOCKED
)
UPDATE match_ticket
SET state = 'seated', ended_at = statement_timestamp(), game_id = $1, seat = place.number - 1, seats = $3
FROM unnest($2::uuid[]) WITH ORDINALITY AS place (ticket_id, number)
WHERE match_ticket.ticket_id = place.ticket_id AND (SELECT count(*) FROM free) = cardinality($2::uuid[])
RETURNING match_ticket.ticket_id;

-- name: seated
SELECT *, statement_timestamp() AS now FROM match_ticket WHERE state = 'seated' ORDER BY game_id, seat;

-- name: tell
UPDATE match_ticket SET state = 'matched' WHERE game_id = $1 AND state = 'seated';

-- name: release
-- Who has asked for another one meanwhile waits with that.
WITH released AS (
    SELECT ticket_id, EXISTS (
        SELECT FROM match_ticket AS other
        WHERE other.player_id = mine.player_id AND other.ruleset = mine.ruleset AND other.state = 'waiting'
    ) AS is_over
    FROM match_ticket AS mine
    WHERE game_id = $1 AND state = 'seated' AND ended_at <= statement_timestamp() - make_interval(secs => $2)
    FOR NO KEY UPDATE
)
UPDATE match_ticket
SET state = CASE WHEN is_over THEN 'expired' ELSE 'waiting' END,
    ended_at = CASE WHEN is_over THEN statement_timestamp() END,
    seen_at = statement_timestamp(), game_id = NULL, seat = NULL, seats = NULL
FROM released
WHERE match_ticket.ticket_id = released.ticket_id;

-- name: forget_old
DELETE FROM match_ticket WHERE ended_at < statement_timestamp() - interval '7 days' AND state <> 'seated';
