-- How many games of a player are not over, and how many of their invites to a game can be used. Whoever asks is alone
-- with it until the end of their transaction, and sees what was added before: so that none is one too many.
CREATE FUNCTION unfinished_games_of(opener text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('games of ' || opener, 0));
    RETURN (
        SELECT count(*) FROM reservation
        WHERE principal = opener AND operation IN ('createGame', 'rematch') AND NOT is_over
    );
END
$$;

CREATE FUNCTION living_invites_of(maker uuid, game uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('invites of ' || maker || game, 0));
    RETURN (
        SELECT count(*) FROM invite
        WHERE game_id = game AND made_by = maker AND expires_at > statement_timestamp()
    );
END
$$;
