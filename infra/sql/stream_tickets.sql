-- name: make
-- Room is made first: dead tickets of anybody, some at a time, and the oldest of this token. The token's row is held, so
-- that none is made for a player who is being forgotten.
WITH dead AS (
    DELETE FROM stream_ticket
    WHERE sha256 IN (SELECT sha256 FROM stream_ticket WHERE ends_at <= statement_timestamp() LIMIT 100)
), surplus AS (
    DELETE FROM stream_ticket
    WHERE sha256 IN (SELECT sha256 FROM stream_ticket WHERE token_id = $2 ORDER BY made_at DESC OFFSET $7 - 1)
)
INSERT INTO stream_ticket (sha256, token_id, game_id, with_view, ends_at)
SELECT $1, token_id, $3, $4, statement_timestamp() + make_interval(secs => $5)
FROM token JOIN player USING (player_id)
WHERE token_id = $2 AND suspended_at IS NULL
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > statement_timestamp())
FOR KEY SHARE OF token
RETURNING ends_at AS use_before_at, made_at + make_interval(secs => $6) AS ends_at;

-- name: use
UPDATE stream_ticket SET ends_at = made_at + make_interval(secs => $4), turn = turn + 1
FROM token JOIN player USING (player_id)
WHERE stream_ticket.sha256 = $1 AND ends_at > statement_timestamp()
    AND game_id IS NOT DISTINCT FROM $2 AND with_view = $3
    AND token.token_id = stream_ticket.token_id AND suspended_at IS NULL
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > statement_timestamp())
RETURNING player_id, name, scopes, token.token_id, expires_at, turn;

-- name: turns
SELECT sha256, turn FROM stream_ticket WHERE sha256 = ANY ($1::bytea[]);
