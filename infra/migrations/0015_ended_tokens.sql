-- A token ends with the one that has made it, and the webhooks of a player with all of their tokens. Whoever ends tokens,
-- makes one, or changes a webhook holds the player's row meanwhile, and sees what was done before.

-- The token that has asked for it; null for a first one.
ALTER TABLE token ADD COLUMN made_by uuid;

-- Whether a token that asks for something lives still, as of the call and not of the statement's beginning; null asks
-- for the server itself.
CREATE FUNCTION token_lives(owner uuid, asking uuid) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN asking IS NULL OR EXISTS (
        SELECT FROM token
        WHERE player_id = owner AND token_id = asking
            AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > statement_timestamp())
    );
END
$$;

-- Ends a token and what it has made, and these in turn, but for the one that asks and what that one has made; these are
-- from then on those of whoever has made the ended one. Gives all that are ended, nothing where there is no such token.
CREATE FUNCTION end_token(owner uuid, named uuid, asking uuid) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE
    above uuid;
BEGIN
    PERFORM FROM player WHERE player_id = owner FOR NO KEY UPDATE;
    SELECT made_by INTO above FROM token WHERE player_id = owner AND token_id = named;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH RECURSIVE own AS (
        SELECT token_id, made_by FROM token WHERE player_id = owner
    ), ended AS (
        SELECT named AS token_id
        UNION
        SELECT own.token_id FROM own JOIN ended ON own.made_by = ended.token_id
        WHERE own.token_id IS DISTINCT FROM asking AND ended.token_id IS DISTINCT FROM asking
    ), over AS (
        UPDATE token SET revoked_at = statement_timestamp()
        WHERE player_id = owner AND token_id IN (SELECT token_id FROM ended) AND revoked_at IS NULL
    ), left_behind AS (
        UPDATE token SET made_by = above
        WHERE player_id = owner AND made_by IN (SELECT token_id FROM ended)
            AND token_id NOT IN (SELECT token_id FROM ended)
    )
    SELECT token_id FROM ended;
END
$$;

-- Ends all tokens of a player, and switches their webhooks off: whoever had a token may have made them.
CREATE FUNCTION end_all_tokens(owner uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM player WHERE player_id = owner FOR NO KEY UPDATE;
    UPDATE token SET revoked_at = statement_timestamp() WHERE player_id = owner AND revoked_at IS NULL;
    PERFORM FROM webhook WHERE player_id = owner ORDER BY webhook_id FOR NO KEY UPDATE;
    UPDATE webhook SET disabled = 'revoked' WHERE player_id = owner AND disabled IS DISTINCT FROM 'revoked';
END
$$;

-- Which names there are inside was told until now.
UPDATE webhook_delivery SET fault = 'no_public_address' WHERE fault IN ('address_refused', 'name_not_found');
