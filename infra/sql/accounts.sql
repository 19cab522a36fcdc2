-- name: add_guest
WITH guest AS (
    INSERT INTO player (player_id, name) VALUES ($1, $2)
)
INSERT INTO token (sha256, player_id, scopes) VALUES ($3, $1, $4);

-- name: principal
SELECT player_id, name, scopes, token_id, expires_at
FROM token JOIN player USING (player_id)
WHERE sha256 = $1 AND suspended_at IS NULL AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > statement_timestamp());

-- name: names
SELECT player_id, name FROM player WHERE player_id = ANY ($1::uuid[]);

-- name: forget
WITH tokens AS (
    DELETE FROM token WHERE player_id = $1
)
DELETE FROM player WHERE player_id = $1;

-- name: rename
UPDATE player SET name = $2 WHERE player_id = $1 RETURNING player_id;

-- name: add_token
-- The player's row is held, so that whoever forgets the player forgets this token too, and none is one too many.
WITH dead AS (
    DELETE FROM token
    WHERE player_id = $1 AND (revoked_at IS NOT NULL OR expires_at <= statement_timestamp())
), owner AS (
    SELECT player_id FROM player WHERE player_id = $1 FOR NO KEY UPDATE
)
INSERT INTO token (sha256, player_id, token_id, label, scopes, expires_at, made_by)
SELECT $2, player_id, $3, $4, $5, least(statement_timestamp() + $6::integer * interval '1 second', $7), $9
FROM owner
WHERE living_tokens_of(player_id) < $8 AND token_lives(player_id, $9)
RETURNING token_id, label, scopes, created_at, expires_at;

-- name: tokens
SELECT token_id, label, scopes, created_at, expires_at
FROM token
WHERE player_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > statement_timestamp())
ORDER BY created_at, token_id;

-- name: revoke
SELECT end_token($1, $2, $3) AS token_id;

-- name: living
SELECT token_id
FROM token JOIN player USING (player_id)
WHERE token_id = ANY ($1::uuid[]) AND suspended_at IS NULL
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > statement_timestamp());

-- name: reserve
INSERT INTO reservation (principal, operation, key, fingerprint, new_id)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING
RETURNING new_id, fingerprint;

-- name: reserve_game
-- A key that has its id already is let through by `reserved`, however many games there are.
INSERT INTO reservation (principal, operation, key, fingerprint, new_id)
SELECT $1, $2, $3, $4, $5
WHERE unfinished_games_of($1) < $6
ON CONFLICT DO NOTHING
RETURNING new_id, fingerprint;

-- name: reserved
SELECT new_id, fingerprint FROM reservation WHERE principal = $1 AND operation = $2 AND key = $3;

-- name: unfinished
SELECT new_id FROM reservation
WHERE principal = $1 AND operation IN ('createGame', 'rematch') AND NOT is_over
LIMIT $2;

-- name: finish
UPDATE reservation SET is_over = true WHERE new_id = ANY ($1::uuid[]) AND NOT is_over;

-- name: keep_secret
INSERT INTO game_secret (game_id, sealed) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: secret
SELECT sealed FROM game_secret WHERE game_id = $1;
