-- name: take_over
-- is_ahead: the place comes from a cluster that had counted further than this one.
UPDATE projection SET epoch = epoch + 1
WHERE build = (SELECT max(build) FROM projection WHERE is_served)
RETURNING build, epoch, xid, gseq, xid >= pg_snapshot_xmax(pg_current_snapshot()) AS is_ahead;

-- name: batch
-- Below the barrier nothing is under way any more: what is visible there is all there will ever be.
SELECT xid, gseq, game_id, version, type, schema, actor, round, command_id, occurred_at, payload
FROM event
WHERE (xid, gseq) > ($1, $2) AND xid < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY xid, gseq
LIMIT $3;

-- name: beginning
SELECT xid, gseq, game_id, version, type, schema, actor, round, command_id, occurred_at, payload
FROM event
WHERE game_id = $1 AND version < $2
ORDER BY version;

-- name: save
-- Rows and place together, or nothing where somebody else has taken over.
WITH place AS (
    UPDATE projection SET xid = $3, gseq = $4, saved_at = statement_timestamp()
    WHERE build = $1 AND epoch = $2
    RETURNING build
), games AS (
    INSERT INTO lobby_game (build, game_id, version, status, ruleset, is_public, shown, told_at)
    SELECT build, new.*
    FROM place, unnest($5::uuid[], $6::integer[], $7::text[], $8::text[], $9::boolean[], $10::bytea[],
        $11::timestamptz[]) AS new
    ON CONFLICT (build, game_id) DO UPDATE
        SET version = excluded.version, status = excluded.status, shown = excluded.shown, told_at = excluded.told_at
), seats AS (
    INSERT INTO lobby_seat (build, player_id, game_id, is_seated, is_own)
    SELECT build, new.* FROM place, unnest($12::uuid[], $13::uuid[], $14::boolean[], $15::boolean[]) AS new
    ON CONFLICT (build, player_id, game_id) DO UPDATE
        SET is_seated = excluded.is_seated, is_own = excluded.is_own
), gone AS (
    DELETE FROM lobby_seat USING place, unnest($16::uuid[], $17::uuid[]) AS old (player_id, game_id)
    WHERE (lobby_seat.build, lobby_seat.player_id, lobby_seat.game_id) = (place.build, old.player_id, old.game_id)
), results AS (
    INSERT INTO player_result (build, player_id, game_id, ruleset, finished_at, seat, seats, score, is_won, told_at)
    SELECT build, new.*
    FROM place, unnest($18::uuid[], $19::uuid[], $20::text[], $21::timestamptz[], $22::smallint[], $23::smallint[],
        $24::integer[], $25::boolean[], $26::timestamptz[]) AS new
    ON CONFLICT DO NOTHING
    RETURNING *
), rated AS (
    INSERT INTO rated_game (build, xid, gseq, game_id, ruleset, players, ranks)
    SELECT build, xid, gseq, game_id, ruleset, string_to_array(players, ' ')::uuid[], string_to_array(ranks, ' ')::smallint[]
    FROM place, unnest($27::uuid[], $28::integer[], $29::text[], $30::text[], $31::text[])
        AS new (game_id, version, ruleset, players, ranks)
        JOIN event USING (game_id, version)
), ratings AS (
    INSERT INTO rating (build, player_id, ruleset, mu, sigma, games, ordinal)
    SELECT build, new.*
    FROM place, unnest($32::uuid[], $33::text[], $34::double precision[], $35::double precision[], $36::integer[],
        $37::double precision[]) AS new
    ON CONFLICT (build, player_id, ruleset) DO UPDATE
        SET mu = excluded.mu, sigma = excluded.sigma, games = excluded.games, ordinal = excluded.ordinal
), standings AS (
    INSERT INTO standing (build, player_id, ruleset, games, wins, points)
    SELECT build, player_id, ruleset, count(*), count(*) FILTER (WHERE is_won), sum(score)
    FROM results
    GROUP BY build, player_id, ruleset
    ON CONFLICT (build, player_id, ruleset) DO UPDATE
        SET games = standing.games + excluded.games, wins = standing.wins + excluded.wins,
            points = standing.points + excluded.points
)
SELECT build FROM place;

-- name: known_ratings
SELECT player_id, ruleset, mu, sigma, games
FROM rating JOIN unnest($2::uuid[], $3::text[]) AS wanted (player_id, ruleset) USING (player_id, ruleset)
WHERE build = $1;

-- name: rated_games
-- In the order in which they ended.
SELECT xid, gseq, game_id, ruleset, players, ranks
FROM rated_game
WHERE build = $1 AND (xid, gseq) > ($2, $3)
ORDER BY xid, gseq
LIMIT $4;

-- name: save_ratings
INSERT INTO rating (build, player_id, ruleset, mu, sigma, games, ordinal)
SELECT $1, new.*
FROM unnest($2::uuid[], $3::text[], $4::double precision[], $5::double precision[], $6::integer[],
    $7::double precision[]) AS new
ON CONFLICT (build, player_id, ruleset) DO UPDATE
    SET mu = excluded.mu, sigma = excluded.sigma, games = excluded.games, ordinal = excluded.ordinal;

-- name: served
SELECT max(build) FROM projection WHERE is_served;

-- name: new_build
INSERT INTO projection (build, is_served) SELECT max(build) + 1, false FROM projection RETURNING build;

-- name: archived
SELECT first_id, end_id FROM archived_month ORDER BY month;

-- name: adopt
-- Results of archived months cannot be made again: they are taken over from the served build, some at a time.
WITH source AS (
    SELECT *
    FROM player_result
    WHERE build = (SELECT max(build) FROM projection WHERE is_served)
        AND (game_id, player_id) > ($2, $3) AND game_id < $4
    ORDER BY game_id, player_id
    LIMIT $5
), results AS (
    INSERT INTO player_result (build, player_id, game_id, ruleset, finished_at, seat, seats, score, is_won, told_at)
    SELECT $1, player_id, game_id, ruleset, finished_at, seat, seats, score, is_won, told_at FROM source
    ON CONFLICT DO NOTHING
    RETURNING *
), standings AS (
    INSERT INTO standing (build, player_id, ruleset, games, wins, points)
    SELECT build, player_id, ruleset, count(*), count(*) FILTER (WHERE is_won), sum(score)
    FROM results
    GROUP BY build, player_id, ruleset
    ON CONFLICT (build, player_id, ruleset) DO UPDATE
        SET games = standing.games + excluded.games, wins = standing.wins + excluded.wins,
            points = standing.points + excluded.points
)
SELECT game_id, player_id FROM source ORDER BY game_id DESC, player_id DESC LIMIT 1;

-- name: adopt_rated
-- So are the games that ratings are made of.
WITH source AS (
    SELECT *
    FROM rated_game
    WHERE build = (SELECT max(build) FROM projection WHERE is_served) AND game_id > $2 AND game_id < $3
    ORDER BY game_id
    LIMIT $4
), games AS (
    INSERT INTO rated_game (build, xid, gseq, game_id, ruleset, players, ranks)
    SELECT $1, xid, gseq, game_id, ruleset, players, ranks FROM source
    ON CONFLICT DO NOTHING
)
SELECT game_id FROM source ORDER BY game_id DESC LIMIT 1;

-- name: serve
UPDATE projection SET is_served = true WHERE build = $1;

-- name: forget_builds
DELETE FROM projection WHERE build >= $1 AND build < $2;

-- name: clear
-- Some rows of builds that nobody reads, in one of the tables of read models; gives how many.
WITH cleared AS (
    DELETE FROM {table}
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM {table} WHERE build >= $1 AND build < $2 LIMIT $3))
    RETURNING 1
)
SELECT count(*) FROM cleared;

-- name: unprojected
-- Games that were opened, started, finished or changed hands since the served build's place, among the last events.
SELECT DISTINCT game_id
FROM (
    SELECT game_id, type
    FROM event
    WHERE (xid, gseq) > (
        (SELECT xid FROM projection WHERE is_served ORDER BY build DESC LIMIT 1),
        (SELECT gseq FROM projection WHERE is_served ORDER BY build DESC LIMIT 1)
    )
    ORDER BY xid DESC, gseq DESC
    LIMIT $2
) AS tail
WHERE type = ANY ($1::smallint[])
ORDER BY game_id DESC
LIMIT $3;

-- name: page
-- Public games and the caller's own private ones, the newest first. The public ones are a range of one index, in its
-- order, so that no plan looks at the games of other lists: {list} is the columns of that index before game_id, {is_list}
-- what they are; {wanted} is conditions on $4 and $5, is_told leaves out what must not be known to be over, and untold
-- adds it to the games that are played. A game without an event is one whose month was archived just now.
WITH served AS (SELECT max(build) AS build FROM projection WHERE is_served), ids AS (
    (
        SELECT game_id
        FROM lobby_game
        WHERE is_public AND NOT $6::boolean
            AND ({list}, game_id) < ({is_list}, $2)
            AND ({list}, game_id) >= ({is_list}, '00000000-0000-0000-0000-000000000000')
            AND {is_told}
        ORDER BY {list_down}, game_id DESC
        LIMIT $3
    )
    UNION ALL
    (
        SELECT game_id
        FROM lobby_seat JOIN lobby_game USING (build, game_id)
        WHERE build = (SELECT build FROM served) AND player_id = $1 AND game_id < $2
            AND (is_own OR NOT $6) AND ($6 OR NOT is_public) AND {wanted}
        ORDER BY game_id DESC
        LIMIT $3
    )
    {untold}
)
SELECT game_id, lobby_game.version, status, shown, told_at, type, schema, payload, occurred_at
FROM ids JOIN lobby_game USING (game_id)
    LEFT JOIN (SELECT game_id, type, schema, payload, occurred_at FROM event WHERE version = 1) AS opened USING (game_id)
WHERE build = (SELECT build FROM served)
ORDER BY game_id DESC
LIMIT $3;

-- name: untold
-- Public games whose end must not be known yet; those of the caller's own are left out of the list later.
UNION ALL
(
    SELECT game_id
    FROM lobby_game
    WHERE build = (SELECT build FROM served) AND told_at > statement_timestamp()
        AND is_public AND NOT $6 AND game_id < $2 AND {ruleset}
    ORDER BY game_id DESC
    LIMIT $3
)

-- name: standings
-- The sums without those games whose end must not be known yet.
WITH served AS (SELECT max(build) AS build FROM projection WHERE is_served), untold AS (
    SELECT ruleset, count(*) AS games, count(*) FILTER (WHERE is_won) AS wins, sum(score) AS points
    FROM player_result
    WHERE build = (SELECT build FROM served) AND player_id = $1 AND told_at > statement_timestamp()
    GROUP BY ruleset
)
SELECT ruleset, standing.games - coalesce(untold.games, 0) AS games, standing.wins - coalesce(untold.wins, 0) AS wins,
    standing.points - coalesce(untold.points, 0) AS points
FROM standing LEFT JOIN untold USING (ruleset)
WHERE build = (SELECT build FROM served) AND player_id = $1 AND standing.games > coalesce(untold.games, 0)
ORDER BY ruleset;

-- name: ratings
SELECT player_id, ruleset, mu, sigma, games
FROM rating
WHERE build = (SELECT max(build) FROM projection WHERE is_served) AND player_id = $1
ORDER BY ruleset;

-- name: leaderboard
SELECT player_id, ruleset, mu, sigma, games
FROM rating
WHERE build = (SELECT max(build) FROM projection WHERE is_served) AND ruleset = $1 AND (ordinal, player_id) < ($2, $3)
ORDER BY ordinal DESC, player_id DESC
LIMIT $4;

-- name: results
SELECT game_id, ruleset, finished_at, seat, seats, score, is_won, told_at
FROM player_result
WHERE build = (SELECT max(build) FROM projection WHERE is_served) AND player_id = $1
    AND (told_at IS NULL OR told_at <= statement_timestamp())
ORDER BY game_id DESC
LIMIT $2;
