-- name: add_guest
WITH guest AS (
    INSERT INTO player (player_id, name) VALUES ($1, $2)
)
INSERT INTO token (sha256, player_id, scopes) VALUES ($3, $1, $4);

-- name: principal
SELECT player_id, name, scopes
FROM token JOIN player USING (player_id)
WHERE sha256 = $1 AND revoked_at IS NULL;

-- name: names
SELECT player_id, name FROM player WHERE player_id = ANY ($1::uuid[]);

-- name: forget
WITH tokens AS (
    DELETE FROM token WHERE player_id = $1
)
DELETE FROM player WHERE player_id = $1;

-- name: reserve
INSERT INTO reservation (principal, operation, key, fingerprint, new_id)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING
RETURNING new_id, fingerprint;

-- name: reserved
SELECT new_id, fingerprint FROM reservation WHERE principal = $1 AND operation = $2 AND key = $3;

-- name: keep_secret
INSERT INTO game_secret (game_id, sealed) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: secret
SELECT sealed FROM game_secret WHERE game_id = $1;
