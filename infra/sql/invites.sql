-- name: keep
INSERT INTO invite (invite_id, code, game_id, seat, is_hand, made_by, expires_at)
SELECT $1, $2, $3, $4, $5, $6, statement_timestamp() + make_interval(secs => $7)
WHERE living_invites_of($6, $3) < $8
ON CONFLICT (invite_id) DO NOTHING;

-- name: kept
SELECT code, game_id, seat, is_hand, made_by, expires_at, expires_at <= statement_timestamp() AS is_expired
FROM invite WHERE invite_id = $1;

-- name: find
SELECT code, game_id, seat, is_hand, made_by, expires_at, expires_at <= statement_timestamp() AS is_expired
FROM invite WHERE code = $1;

-- name: living
SELECT count(*) FROM invite WHERE game_id = $1 AND made_by = $2 AND expires_at > statement_timestamp();

-- name: forget_old
DELETE FROM invite WHERE expires_at < statement_timestamp() - interval '30 days';
