-- name: at_work
-- Which of these of the server's processes carry something out, be it that they only wait for a standby. Read from the
-- locks: what a session of another login does is shown to nobody else, and one that has lost its client may idle for hours.
SELECT DISTINCT pid
FROM pg_locks
WHERE pid = ANY ($1::integer[]) AND locktype = 'virtualxid' AND granted AND pid <> pg_backend_pid();
