-- Tokens have an id by which they are listed and revoked, a label, and may expire; they go with their player.
ALTER TABLE token
    ADD COLUMN token_id uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
    ADD COLUMN label text NOT NULL DEFAULT '',
    ADD COLUMN expires_at timestamptz,
    DROP CONSTRAINT token_player_id_fkey,
    ADD FOREIGN KEY (player_id) REFERENCES player ON DELETE CASCADE;

-- How many games a player has opened that are not over: the reserved ids say which ones there are.
ALTER TABLE reservation ADD COLUMN is_over boolean NOT NULL DEFAULT false;
CREATE INDEX reservation_unfinished ON reservation (principal)
    WHERE NOT is_over AND operation IN ('createGame', 'rematch');
CREATE INDEX reservation_new_id ON reservation (new_id);
GRANT UPDATE (is_over) ON reservation TO shanghai_app;
