-- name: of
-- The newest of a player's games; of those that are over nothing but that they are.
SELECT game_id, status NOT IN ('waiting', 'playing') AS is_over,
    CASE WHEN status IN ('waiting', 'playing') THEN shown END AS shown
FROM (
    SELECT build, game_id
    FROM lobby_seat
    WHERE build = (SELECT max(build) FROM projection WHERE is_served) AND player_id = $1
    ORDER BY game_id DESC
    LIMIT $2
) AS own JOIN lobby_game USING (build, game_id);
