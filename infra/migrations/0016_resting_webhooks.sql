-- Nothing is sent to a webhook before: another one of its player has not reached the host that both name.
ALTER TABLE webhook ADD COLUMN rests_until timestamptz NOT NULL DEFAULT '-infinity';
