-- Tickets of quick match. A player who is forgotten takes them along.
CREATE TABLE match_ticket (
    ticket_id    uuid             PRIMARY KEY,
    player_id    uuid             NOT NULL REFERENCES player ON DELETE CASCADE,
    token_id     uuid             NOT NULL,
    ruleset      text             NOT NULL,
    min_players  smallint         NOT NULL,
    max_players  smallint         NOT NULL,
    pace         text             NOT NULL,  -- JSON
    bots_after_s integer,
    rating       double precision NOT NULL,
    state        text             NOT NULL DEFAULT 'waiting'
        CHECK (state IN ('waiting', 'seated', 'matched', 'expired', 'cancelled')),
    created_at   timestamptz      NOT NULL DEFAULT statement_timestamp(),
    seen_at      timestamptz      NOT NULL DEFAULT statement_timestamp(),
    ended_at     timestamptz,
    game_id      uuid,
    seat         smallint,
    seats        smallint
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX match_ticket_waiting ON match_ticket (player_id, ruleset) WHERE state = 'waiting';
CREATE INDEX match_ticket_oldest ON match_ticket (created_at, ticket_id) WHERE state = 'waiting';
CREATE INDEX match_ticket_seated ON match_ticket (game_id) WHERE state = 'seated';
CREATE INDEX match_ticket_player ON match_ticket (player_id, ticket_id);
CREATE INDEX match_ticket_ended ON match_ticket (ended_at) WHERE ended_at IS NOT NULL;
GRANT SELECT, INSERT, UPDATE, DELETE ON match_ticket TO shanghai_app;
