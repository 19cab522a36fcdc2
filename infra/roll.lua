-- KEYS: when each process was heard of last; what each said of itself. ARGV: milliseconds that it is believed, the process,
-- what it says of itself, and its clock in seconds; without the latter two it has ended. Its clock is compared with this one.
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[1] / 1000)) do
    redis.call('ZREM', KEYS[1], gone)
    redis.call('HDEL', KEYS[2], gone)
end
if ARGV[3] then
    redis.call('ZADD', KEYS[1], now, ARGV[2])
    redis.call('HSET', KEYS[2], ARGV[2], string.format('%.6f ', ARGV[4] - now) .. ARGV[3])
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
    redis.call('PEXPIRE', KEYS[2], ARGV[1])
else
    redis.call('ZREM', KEYS[1], ARGV[2])
    redis.call('HDEL', KEYS[2], ARGV[2])
end
