-- name: bounds
SELECT first_id, end_id FROM month_bounds($1);

-- name: is_past
SELECT $1 < to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM');

-- name: state
-- of_log: the month is part of the log; kept: its table is there; booked: it was archived.
SELECT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(month_partition($1))) AS of_log,
    to_regclass(month_partition($1)) IS NOT NULL AS kept,
    EXISTS (SELECT FROM archived_month WHERE month = $1) AS booked;

-- name: unfinished
-- A game whose last event is of none of the types that end one. Goes from game to game by the primary key.
SELECT game_id
FROM event AS opened
WHERE game_id >= $1 AND game_id < $2 AND version = 1 AND (
    SELECT type FROM event AS last WHERE last.game_id = opened.game_id ORDER BY version DESC LIMIT 1
) <> ALL ($3::smallint[])
ORDER BY game_id
LIMIT 1;

-- name: untold
-- An event of the month that the relay or the projector has not come to yet.
SELECT game_id
FROM event
WHERE game_id >= $1 AND game_id < $2 AND (xid, gseq) > (
    SELECT xid, gseq
    FROM (
        SELECT xid, gseq FROM relay_checkpoint
        UNION ALL
        (SELECT xid, gseq FROM projection WHERE is_served ORDER BY build DESC LIMIT 1)
    ) AS place
    ORDER BY xid, gseq
    LIMIT 1
)
LIMIT 1;

-- name: size
SELECT count(*) FILTER (WHERE version = 1), count(*) FROM event WHERE game_id >= $1 AND game_id < $2;

-- name: detach
SELECT detach_month($1, $2, $3, $4);

-- name: attach
SELECT attach_month($1);

-- name: make
SELECT make_month($1);

-- name: drop
SELECT drop_month($1);

-- name: book
SELECT games, events, sha256 FROM archived_month WHERE month = $1;

-- name: unlist
-- Some of the month's games leave the lists; gives how many.
WITH those AS MATERIALIZED (
    SELECT build, game_id
    FROM lobby_game
    WHERE build IN (SELECT build FROM projection) AND game_id >= $1 AND game_id < $2
    LIMIT $3
), games AS (
    DELETE FROM lobby_game USING those WHERE (lobby_game.build, lobby_game.game_id) = (those.build, those.game_id)
), seats AS (
    DELETE FROM lobby_seat USING those WHERE (lobby_seat.build, lobby_seat.game_id) = (those.build, those.game_id)
)
SELECT count(*) FROM those;

-- name: younger_cluster
SELECT $1::text::xid8 >= pg_snapshot_xmax(pg_current_snapshot());
