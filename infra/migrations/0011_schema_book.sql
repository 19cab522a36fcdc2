-- `shanghai doctor` reads which migrations were applied, whoever logs in.
GRANT SELECT ON schema_migration TO shanghai_app, shanghai_projector, shanghai_operator;
