-- Ratings; lists that tell the end of a game with delayed spectators in time, and games that one is invited to.

-- When those who do not sit at the table may know that the game is over; null: at once, or it is not.
ALTER TABLE lobby_game ADD COLUMN told_at timestamptz;
ALTER TABLE player_result ADD COLUMN told_at timestamptz;
CREATE INDEX lobby_game_told ON lobby_game (build, told_at) WHERE told_at IS NOT NULL;
CREATE INDEX player_result_told ON player_result (build, player_id, told_at) WHERE told_at IS NOT NULL;

-- Whether a list of the player's own games has it: a seat, one that a bot plays for them, or an invitation while it waits.
ALTER TABLE lobby_seat ADD COLUMN is_own boolean NOT NULL DEFAULT false;
UPDATE lobby_seat SET is_own = is_seated;
CREATE INDEX invite_maker ON invite (game_id, made_by);

-- The games that ratings are made of, in the order in which they ended: what is left of archived ones.
CREATE TABLE rated_game (
    build   integer    NOT NULL,
    xid     xid8       NOT NULL,
    gseq    bigint     NOT NULL,
    game_id uuid       NOT NULL,
    ruleset text       NOT NULL,
    players uuid[]     NOT NULL,
    ranks   smallint[] NOT NULL,
    PRIMARY KEY (build, xid, gseq)
);
CREATE INDEX rated_game_game ON rated_game (build, game_id);

CREATE TABLE rating (
    build     integer          NOT NULL,
    player_id uuid             NOT NULL,
    ruleset   text             NOT NULL,
    mu        double precision NOT NULL,
    sigma     double precision NOT NULL,
    games     integer          NOT NULL,
    ordinal   double precision NOT NULL,
    PRIMARY KEY (build, player_id, ruleset)
) WITH (fillfactor = 70);
CREATE INDEX rating_board ON rating (build, ruleset, ordinal, player_id);

GRANT SELECT, INSERT, UPDATE, DELETE ON rated_game, rating TO shanghai_projector;
GRANT SELECT ON rating TO shanghai_app;
