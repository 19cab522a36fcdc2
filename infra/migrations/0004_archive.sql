-- Months of the log that are taken out and put back, and partitions made without making anybody wait.
--
-- Each function is one short transaction: a lock that is not had within 250 ms is given up and tried again later, since
-- whoever waits for one holds back the relay of every game, and makes all appends wait behind it.

CREATE TABLE archived_month (
    month       text        PRIMARY KEY CHECK (month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'),
    first_id    uuid        NOT NULL,
    end_id      uuid        NOT NULL,
    games       bigint      NOT NULL,
    events      bigint      NOT NULL,
    sha256      text        NOT NULL,
    archived_at timestamptz NOT NULL DEFAULT statement_timestamp()
);
GRANT SELECT ON archived_month TO shanghai_app, shanghai_projector, shanghai_operator;
GRANT SELECT ON relay_checkpoint, event_default TO shanghai_operator;
GRANT DELETE ON lobby_game, lobby_seat TO shanghai_operator;

CREATE FUNCTION month_partition(month text) RETURNS text
    LANGUAGE sql IMMUTABLE
AS $$
    SELECT 'event_' || replace(month, '-', '_')
$$;

-- The game ids of a month: from the first one up to, not including, the second.
CREATE FUNCTION month_bounds(month text, OUT first_id uuid, OUT end_id uuid)
    LANGUAGE sql STABLE SET timezone = 'UTC'
AS $$
    SELECT first_uuid_of((month || '-01')::timestamptz),
        first_uuid_of((month || '-01')::timestamptz + interval '1 month')
$$;

CREATE OR REPLACE FUNCTION make_event_partitions(ahead integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp SET timezone = 'UTC' SET lock_timeout = '250ms'
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
        BEGIN
            -- Made apart and attached: the parent is never locked against writers.
            EXECUTE format('CREATE TABLE %I (LIKE event INCLUDING ALL)', name);
            EXECUTE format('GRANT SELECT ON %I TO shanghai_app', name);
            EXECUTE format('ALTER TABLE event ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                name, first_uuid_of(month), first_uuid_of(month + interval '1 month'));
        EXCEPTION
            -- Somebody reads for long, or the default partition holds events of that month: the next call tries again.
            WHEN lock_not_available OR check_violation THEN
                RAISE WARNING 'partition % could not be made: %', name, SQLERRM;
                EXIT;
        END;
        made := made + 1;
    END LOOP;
    RETURN made;
END
$$;

-- Takes a month out of the log and writes it into the book. Its rows stay, in a table of their own.
CREATE FUNCTION detach_month(month text, games bigint, events bigint, sha256 text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '250ms'
AS $$
BEGIN
    EXECUTE format('ALTER TABLE event DETACH PARTITION %I', month_partition(month));
    EXECUTE format('GRANT SELECT ON %I TO shanghai_operator', month_partition(month));
    INSERT INTO archived_month (month, first_id, end_id, games, events, sha256)
        SELECT detach_month.month, bounds.*, detach_month.games, detach_month.events, detach_month.sha256
        FROM month_bounds(detach_month.month) AS bounds;
END
$$;

-- Drops the table of a month that is not part of the log: an archived one, or a restore that was cut short.
CREATE FUNCTION drop_month(month text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '250ms'
AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(month_partition(month))) THEN
        RAISE EXCEPTION '% is part of the log', month_partition(month);
    END IF;
    EXECUTE format('DROP TABLE IF EXISTS %I', month_partition(month));
END
$$;

-- Makes an empty table for a month, which the operator fills. Its CHECK spares the scan when it is attached.
CREATE FUNCTION make_month(month text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '250ms'
AS $$
DECLARE
    name   text := month_partition(month);
    bounds record := month_bounds(month);
BEGIN
    EXECUTE format('CREATE TABLE %I (LIKE event INCLUDING ALL)', name);
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT month CHECK (game_id >= %L AND game_id < %L)',
        name, bounds.first_id, bounds.end_id);
    EXECUTE format('GRANT SELECT, INSERT ON %I TO shanghai_operator', name);
END
$$;

-- Puts a filled table into the log and takes the month out of the book.
CREATE FUNCTION attach_month(month text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '250ms'
AS $$
DECLARE
    name   text := month_partition(month);
    bounds record := month_bounds(month);
BEGIN
    EXECUTE format('ALTER TABLE event ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        name, bounds.first_id, bounds.end_id);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT IF EXISTS month', name);
    EXECUTE format('REVOKE ALL ON %I FROM shanghai_operator', name);
    EXECUTE format('GRANT SELECT ON %I TO shanghai_app', name);
    DELETE FROM archived_month WHERE archived_month.month = attach_month.month;
END
$$;

-- Nothing is written any more to a month that was taken out: its rows would go to the default partition.
CREATE FUNCTION refuse_archived() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    IF EXISTS (SELECT FROM archived_month WHERE NEW.game_id >= first_id AND NEW.game_id < end_id) THEN
        RAISE EXCEPTION 'game % belongs to a month that was archived', NEW.game_id;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER refuse_archived BEFORE INSERT ON event_default FOR EACH ROW EXECUTE FUNCTION refuse_archived();

REVOKE ALL ON FUNCTION detach_month, drop_month, make_month, attach_month FROM PUBLIC;
GRANT EXECUTE ON FUNCTION detach_month, drop_month, make_month, attach_month TO shanghai_operator;
