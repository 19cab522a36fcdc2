-- name: of
-- Of a player's games first those that go on, then the newest; of those that are over nothing but that they are.
SELECT game_id, status NOT IN ('waiting', 'playing') AS is_over,
    CASE WHEN status IN ('waiting', 'playing') THEN shown END AS shown
FROM lobby_seat JOIN lobby_game USING (build, game_id)
WHERE build = (SELECT max(build) FROM projection WHERE is_served) AND player_id = $1
ORDER BY is_over, game_id DESC
LIMIT $2;
