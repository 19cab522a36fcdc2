-- What the statement `append` is given: appends with their events, in one argument.
--
-- Processes of an older version send them as they were: a type never changes, a new shape is a new type.

CREATE TYPE new_event AS (
    version    integer,
    type       smallint,
    schema     smallint,
    actor      smallint,
    round      smallint,
    ordinal    smallint,
    command_id uuid,
    payload    bytea
);

-- after: the head that the game must have. kind, at, delay: of its work row. principal to last_of_command: of its
-- receipt, null without one.
CREATE TYPE new_append AS (
    game_id         uuid,
    after           integer,
    last_version    integer,
    kind            smallint,
    at              timestamptz,
    delay           interval,
    principal       text,
    operation       text,
    key             text,
    fingerprint     bytea,
    command_id      uuid,
    last_of_command integer,
    events          new_event[]
);
