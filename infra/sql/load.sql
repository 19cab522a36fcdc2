-- name: kept
SELECT count(*) FILTER (WHERE version = 1) AS games, count(*) AS events,
    pg_database_size(current_database()) AS database,
    (SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('event'))::bigint AS event_tables,
    (SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL) AS connections
FROM event;
