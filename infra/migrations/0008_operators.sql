-- What operators have asked for, who they were, and why: rows are added and never changed.
CREATE TABLE operator_deed (
    number    bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    deed_id   uuid        NOT NULL UNIQUE,
    noted_at  timestamptz NOT NULL DEFAULT statement_timestamp(),
    what      text        NOT NULL,
    operator  text        NOT NULL,
    game_id   uuid,
    player_id uuid,
    reason    text        NOT NULL
);
GRANT SELECT, INSERT ON operator_deed TO shanghai_app;
GRANT SELECT ON operator_deed TO shanghai_operator;

-- A suspended player's tokens speak for nobody.
ALTER TABLE player ADD COLUMN suspended_at timestamptz;
