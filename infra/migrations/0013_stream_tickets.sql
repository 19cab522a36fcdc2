-- Tickets for streams, known by their hash. ends_at: first until when a ticket must be used, then until when it can be.
CREATE TABLE stream_ticket (
    sha256    bytea       PRIMARY KEY CHECK (length(sha256) = 32),
    token_id  uuid        NOT NULL REFERENCES token (token_id) ON DELETE CASCADE,
    game_id   uuid,  -- null: all games of the player
    with_view boolean     NOT NULL,
    made_at   timestamptz NOT NULL DEFAULT statement_timestamp(),
    ends_at   timestamptz NOT NULL,
    turn      integer     NOT NULL DEFAULT 0
);
CREATE INDEX stream_ticket_token ON stream_ticket (token_id, made_at);
CREATE INDEX stream_ticket_end ON stream_ticket (ends_at);
GRANT SELECT, INSERT, DELETE, UPDATE (ends_at, turn) ON stream_ticket TO shanghai_app;
