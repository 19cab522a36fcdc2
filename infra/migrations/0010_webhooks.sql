-- Webhooks: a player's own addresses, what is to be sent there, and how far the log was turned into deliveries.

-- secret, old_secret: encrypted, the latter signs too until old_secret_until. types: empty for all; game_id: null for all
-- of the player's games. failures: in a row; nothing is sent before resume_at.
CREATE TABLE webhook (
    webhook_id       uuid        PRIMARY KEY,
    player_id        uuid        NOT NULL REFERENCES player ON DELETE CASCADE,
    url              text        NOT NULL,
    types            text[]      NOT NULL,
    game_id          uuid,
    description      text        NOT NULL,
    secret           bytea       NOT NULL,
    old_secret       bytea,
    old_secret_until timestamptz,
    disabled         text,
    failures         integer     NOT NULL DEFAULT 0,
    failing_since    timestamptz,
    resume_at        timestamptz NOT NULL DEFAULT '-infinity',
    created_at       timestamptz NOT NULL DEFAULT statement_timestamp()
) WITH (fillfactor = 70);
CREATE INDEX webhook_player ON webhook (player_id);

-- A message for one webhook: an event of a game, the decisions that it has opened, or a ping (without a game). Nothing
-- of what is sent is kept. Not tied to its webhook by a key: what is left of a removed one is sent to nobody, and goes
-- with its days.
CREATE TABLE webhook_delivery (
    delivery_id  uuid        PRIMARY KEY,
    webhook_id   uuid        NOT NULL,
    game_id      uuid,
    version      integer,
    is_decision  boolean     NOT NULL,
    type         text        NOT NULL,
    state        text        NOT NULL DEFAULT 'waiting',
    attempts     smallint    NOT NULL DEFAULT 0,
    status       smallint,
    fault        text,
    due_at       timestamptz NOT NULL DEFAULT statement_timestamp(),
    leased_until timestamptz NOT NULL DEFAULT '-infinity',
    attempted_at timestamptz,
    created_at   timestamptz NOT NULL DEFAULT statement_timestamp(),
    UNIQUE (webhook_id, game_id, version, is_decision)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
CREATE INDEX webhook_delivery_list ON webhook_delivery (webhook_id, delivery_id);
CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook_id, due_at) WHERE state = 'waiting';
CREATE INDEX webhook_delivery_order ON webhook_delivery (webhook_id, game_id, version, is_decision)
    WHERE state = 'waiting';
CREATE INDEX webhook_delivery_age ON webhook_delivery (created_at);

-- A process with an older epoch cannot announce any more.
CREATE TABLE webhook_place (
    only_row boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
    epoch    bigint      NOT NULL,
    xid      xid8        NOT NULL,
    gseq     bigint      NOT NULL
) WITH (fillfactor = 10);
INSERT INTO webhook_place (epoch, xid, gseq) VALUES (0, '0', 0);

GRANT SELECT, INSERT, UPDATE, DELETE ON webhook, webhook_delivery TO shanghai_app;
GRANT SELECT, UPDATE ON webhook_place TO shanghai_app;
