-- name: games
-- A game's newest work row says whether something is overdue; one without any waits for nobody.
WITH found AS (
    SELECT game_id, status, newest.*
    FROM lobby_game
    LEFT JOIN LATERAL (
        SELECT version AS work_version, kind, due_at,
            CASE kind WHEN 0 THEN 0 ELSE extract(epoch FROM statement_timestamp() - due_at) END::float8 AS overdue_s
        FROM work
        WHERE work.game_id = lobby_game.game_id
        ORDER BY version DESC
        LIMIT 1
    ) AS newest ON true
    WHERE build = (SELECT max(build) FROM projection WHERE is_served)
        AND game_id < $1
        AND ($2::uuid IS NULL OR game_id = $2)
        AND ($3::uuid IS NULL OR game_id IN (
            SELECT game_id FROM lobby_seat WHERE lobby_seat.build = lobby_game.build AND player_id = $3
        ))
        AND ($4::text IS NULL OR status = $4)
        AND (NOT $5::boolean OR (
            status IN ('waiting', 'playing') AND (coalesce(kind, 0) = 0 OR overdue_s > $6)
        ))
    ORDER BY game_id DESC
    LIMIT $7
)
SELECT found.*, head.version, head.occurred_at
FROM found CROSS JOIN LATERAL (
    SELECT version, occurred_at FROM event WHERE event.game_id = found.game_id ORDER BY version DESC LIMIT 1
) AS head
ORDER BY game_id DESC;

-- name: work
SELECT version AS work_version, kind, due_at,
    CASE kind WHEN 0 THEN 0 ELSE extract(epoch FROM statement_timestamp() - due_at) END::float8 AS overdue_s
FROM work
WHERE game_id = $1
ORDER BY version DESC
LIMIT 1;

-- name: players
SELECT player_id, name, created_at, suspended_at, (
    SELECT count(*) FROM token
    WHERE token.player_id = player.player_id
        AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > statement_timestamp())
) AS tokens
FROM player
WHERE player_id < $1 AND ($2::uuid IS NULL OR player_id = $2) AND position(lower($3) IN lower(name)) > 0
ORDER BY player_id DESC
LIMIT $4;

-- name: revoke_all
SELECT end_all_tokens($1);

-- name: suspend
UPDATE player SET suspended_at = CASE WHEN $2 THEN coalesce(suspended_at, statement_timestamp()) END
WHERE player_id = $1;

-- name: note
INSERT INTO operator_deed (deed_id, what, operator, game_id, player_id, reason)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (deed_id) DO NOTHING;

-- name: deeds
SELECT number, noted_at, what, operator, game_id, player_id, reason
FROM operator_deed
WHERE number < $1
ORDER BY number DESC
LIMIT $2;
