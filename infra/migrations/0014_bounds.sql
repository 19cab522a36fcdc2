-- How many a player has, seen at the moment of the call and not as of the statement's beginning: who has waited for
-- the player's row has to count what was added meanwhile.
CREATE FUNCTION webhooks_of(owner uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN (SELECT count(*) FROM webhook WHERE player_id = owner);
END
$$;

CREATE FUNCTION living_tokens_of(owner uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN (
        SELECT count(*) FROM token
        WHERE player_id = owner AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > statement_timestamp())
    );
END
$$;
