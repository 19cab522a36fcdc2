-- name: due
SELECT game_id, version, kind
FROM work
WHERE due_at <= now() AND kind <> 0 AND NOT EXISTS (
    SELECT FROM work AS newer WHERE newer.game_id = work.game_id AND newer.version > work.version
)
ORDER BY due_at
LIMIT $1;

-- name: now
SELECT now();

-- name: forget_overtaken
-- One pass over the primary key: a row with a successor of the same game is overtaken. A row that says `nothing`
-- (kind 0) has done its duty when it has overtaken the others.
WITH overtaken AS (
    SELECT game_id, version
    FROM (
        SELECT game_id, version, kind,
            lag(game_id) OVER by_key AS game_before, lead(game_id) OVER by_key AS game_after
        FROM work
        WINDOW by_key AS (ORDER BY game_id, version)
    ) AS rows
    WHERE game_after = game_id OR (kind = 0 AND game_before IS DISTINCT FROM game_id)
    LIMIT $1
), forgotten AS (
    DELETE FROM work USING overtaken
    WHERE work.game_id = overtaken.game_id AND work.version = overtaken.version
    RETURNING 1
)
SELECT count(*) FROM forgotten;

-- name: astray
SELECT game_id FROM event_default LIMIT 1;

-- name: make_partitions
SELECT make_event_partitions($1);
