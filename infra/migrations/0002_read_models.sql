-- The read models: what lists of games and pages of players are served from. All of it can be made again from `event`.

-- Who projects and who archives act as roles of their own; shanghai_app stays the writer of the log.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['shanghai_projector', 'shanghai_operator'] LOOP
        BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            END IF;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN NULL;  -- another database of the cluster was faster
        END;
        IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
            EXECUTE format('GRANT %I TO %I', wanted, current_user);
        END IF;
    END LOOP;
END
$$;
GRANT USAGE ON SCHEMA public TO shanghai_projector, shanghai_operator;
GRANT SELECT ON event TO shanghai_projector, shanghai_operator;

-- A build is one making of all read models, up to a place in the order of commits. Readers take the served one with
-- the highest number, so that a new build is switched to by one row; who projects with an older epoch cannot save.
CREATE TABLE projection (
    build     integer     PRIMARY KEY,
    is_served boolean     NOT NULL,
    epoch     bigint      NOT NULL DEFAULT 0,
    xid       xid8        NOT NULL DEFAULT '0',
    gseq      bigint      NOT NULL DEFAULT 0,
    saved_at  timestamptz NOT NULL DEFAULT statement_timestamp()
) WITH (fillfactor = 10);
INSERT INTO projection (build, is_served) VALUES (1, true);

-- A game as it changes; what never changes stands in its first event. shown: its seats and result, as JSON.
CREATE TABLE lobby_game (
    build     integer NOT NULL,
    game_id   uuid    NOT NULL,
    version   integer NOT NULL,
    status    text    NOT NULL,
    ruleset   text    NOT NULL,
    is_public boolean NOT NULL,
    shown     bytea   NOT NULL,
    PRIMARY KEY (build, game_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
CREATE INDEX lobby_game_public ON lobby_game (build, game_id) WHERE is_public;
CREATE INDEX lobby_game_status ON lobby_game (build, status, game_id) WHERE is_public;
CREATE INDEX lobby_game_ruleset ON lobby_game (build, ruleset, game_id) WHERE is_public;
CREATE INDEX lobby_game_ruleset_status ON lobby_game (build, ruleset, status, game_id) WHERE is_public;

-- Who may know of a game although it is private: its opener, and those who sit at it.
CREATE TABLE lobby_seat (
    build     integer NOT NULL,
    player_id uuid    NOT NULL,
    game_id   uuid    NOT NULL,
    is_seated boolean NOT NULL,
    PRIMARY KEY (build, player_id, game_id)
);
CREATE INDEX lobby_seat_game ON lobby_seat (build, game_id);

-- What a finished public game was for each person at its table.
CREATE TABLE player_result (
    build       integer     NOT NULL,
    player_id   uuid        NOT NULL,
    game_id     uuid        NOT NULL,
    ruleset     text        NOT NULL,
    finished_at timestamptz NOT NULL,
    seat        smallint    NOT NULL,
    seats       smallint    NOT NULL,
    score       integer     NOT NULL,
    is_won      boolean     NOT NULL,
    PRIMARY KEY (build, player_id, game_id)
);
CREATE INDEX player_result_game ON player_result (build, game_id);

-- The sums of the results.
CREATE TABLE standing (
    build     integer NOT NULL,
    player_id uuid    NOT NULL,
    ruleset   text    NOT NULL,
    games     integer NOT NULL,
    wins      integer NOT NULL,
    points    bigint  NOT NULL,
    PRIMARY KEY (build, player_id, ruleset)
) WITH (fillfactor = 70);

GRANT SELECT, INSERT, UPDATE, DELETE ON projection, lobby_game, lobby_seat, player_result, standing
    TO shanghai_projector;
GRANT SELECT ON projection, lobby_game, lobby_seat, player_result, standing TO shanghai_app, shanghai_operator;
