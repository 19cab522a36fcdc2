-- A code that lets whoever has it sit down at a game, or take over a hand. It is no more secret than the game is.
CREATE TABLE invite (
    invite_id  uuid        PRIMARY KEY,
    code       text        NOT NULL UNIQUE,
    game_id    uuid        NOT NULL,
    seat       smallint,
    is_hand    boolean     NOT NULL,
    made_by    uuid        NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX invite_expiry ON invite (expires_at);
GRANT SELECT, INSERT, DELETE ON invite TO shanghai_app;
