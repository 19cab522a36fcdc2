-- The event store: events, receipts, reservations, work, secrets, players, the relay's checkpoint.

-- Whoever runs the application acts as this role; the migrating user owns the tables.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'shanghai_app') THEN
        CREATE ROLE shanghai_app NOLOGIN;
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;  -- another database of the cluster was faster
END
$$;
DO $$
BEGIN
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        EXECUTE format('GRANT shanghai_app TO %I', current_user);
    END IF;
END
$$;
GRANT USAGE ON SCHEMA public TO shanghai_app;

-- A sequence and not an identity: before Postgres 17 partitioned tables could not have one.
CREATE SEQUENCE event_gseq AS bigint CACHE 32;

CREATE TABLE event (
    game_id     uuid        NOT NULL,
    version     integer     NOT NULL CHECK (version > 0),
    xid         xid8        NOT NULL DEFAULT pg_current_xact_id(),
    gseq        bigint      NOT NULL DEFAULT nextval('event_gseq'),
    type        smallint    NOT NULL,
    schema      smallint    NOT NULL,
    actor       smallint    NOT NULL,
    round       smallint,
    ordinal     smallint    NOT NULL,
    command_id  uuid        NOT NULL,
    occurred_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    payload     bytea       NOT NULL,
    PRIMARY KEY (game_id, version)
) PARTITION BY RANGE (game_id);
ALTER TABLE event ALTER COLUMN payload SET STORAGE MAIN;  -- small JSON: kept in the row

CREATE UNIQUE INDEX event_command ON event (game_id, command_id) WHERE ordinal = 0;
CREATE INDEX event_order ON event (xid, gseq);
CREATE INDEX event_first ON event (game_id) WHERE version = 1;  -- the list of games
CREATE TABLE event_default PARTITION OF event DEFAULT;

GRANT SELECT, INSERT ON event TO shanghai_app;
GRANT SELECT ON event_default TO shanghai_app;  -- else a violation's DETAIL does not name the key
GRANT USAGE ON SEQUENCE event_gseq TO shanghai_app;

-- Game ids are UUIDv7: their first 48 bits are milliseconds since 1970.
CREATE FUNCTION first_uuid_of(moment timestamptz) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

-- Makes the partitions of this month and of the `ahead` next ones, where they are missing; gives how many.
-- Runs with its owner's rights, so that the application can call it without owning anything.
CREATE FUNCTION make_event_partitions(ahead integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET timezone = 'UTC'
AS $$
DECLARE
    month timestamptz;
    name  text;
    made  integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('make_event_partitions'));
    FOR i IN 0 .. least(ahead, 24) LOOP
        month := date_trunc('month', now()) + make_interval(months => i);
        name := 'event_' || to_char(month, 'YYYY_MM');
        CONTINUE WHEN to_regclass(name) IS NOT NULL;
        -- Made apart and attached: the parent is never locked against writers.
        EXECUTE format('CREATE TABLE %I (LIKE event INCLUDING ALL)', name);
        EXECUTE format('GRANT SELECT ON %I TO shanghai_app', name);
        EXECUTE format('ALTER TABLE event ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
            name, first_uuid_of(month), first_uuid_of(month + interval '1 month'));
        made := made + 1;
    END LOOP;
    RETURN made;
END
$$;
REVOKE ALL ON FUNCTION make_event_partitions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_event_partitions TO shanghai_app;

-- What a keyed request on a game led to.
CREATE TABLE idempotency (
    game_id       uuid        NOT NULL,
    principal     text        NOT NULL,
    operation     text        NOT NULL,
    key           text        NOT NULL,
    fingerprint   bytea       NOT NULL,
    command_id    uuid        NOT NULL,
    first_version integer     NOT NULL,
    last_version  integer     NOT NULL,
    status        smallint,
    created_at    timestamptz NOT NULL DEFAULT statement_timestamp(),
    PRIMARY KEY (game_id, principal, operation, key)
);
GRANT SELECT, INSERT ON idempotency TO shanghai_app;

-- The id that a keyed request will give to something new.
CREATE TABLE reservation (
    principal   text        NOT NULL,
    operation   text        NOT NULL,
    key         text        NOT NULL,
    fingerprint bytea       NOT NULL,
    new_id      uuid        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT statement_timestamp(),
    PRIMARY KEY (principal, operation, key)
);
GRANT SELECT, INSERT ON reservation TO shanghai_app;

-- What must happen next if nobody acts: one row per append, of which only a game's newest counts.
CREATE TABLE work (
    game_id uuid        NOT NULL,
    version integer     NOT NULL,
    kind    smallint    NOT NULL,
    due_at  timestamptz NOT NULL,
    PRIMARY KEY (game_id, version)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
CREATE INDEX work_due ON work (due_at);
GRANT SELECT, INSERT, DELETE ON work TO shanghai_app;

CREATE TABLE game_secret (
    game_id    uuid        PRIMARY KEY,
    sealed     bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT statement_timestamp()
);
GRANT SELECT, INSERT ON game_secret TO shanghai_app;

CREATE TABLE player (
    player_id  uuid        PRIMARY KEY,
    name       text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT statement_timestamp()
);
GRANT SELECT, INSERT, UPDATE ON player TO shanghai_app;

CREATE TABLE token (
    sha256     bytea       PRIMARY KEY CHECK (length(sha256) = 32),
    player_id  uuid        NOT NULL REFERENCES player,
    scopes     text[]      NOT NULL,
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    revoked_at timestamptz
);
CREATE INDEX token_player ON token (player_id);
GRANT SELECT, INSERT, UPDATE ON token TO shanghai_app;

-- How far the relay has told the bus; a relay with an older epoch cannot write it any more.
CREATE TABLE relay_checkpoint (
    only_row boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
    epoch    bigint      NOT NULL,
    xid      xid8        NOT NULL,
    gseq     bigint      NOT NULL,
    saved_at timestamptz NOT NULL DEFAULT statement_timestamp()
) WITH (fillfactor = 10);
INSERT INTO relay_checkpoint (epoch, xid, gseq) VALUES (0, '0', 0);
GRANT SELECT, UPDATE ON relay_checkpoint TO shanghai_app;
