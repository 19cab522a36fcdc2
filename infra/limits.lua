-- Counts requests against a quota that refills evenly. KEYS: the subject. ARGV: the quota, its window in microseconds,
-- how many are needed, how many are wanted. Kept is the moment at which the quota will be full again.
-- Gives: how many are granted (none, or as many as are needed at least), what is left, microseconds to wait.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local window, each = tonumber(ARGV[2]), ARGV[2] / ARGV[1]
local needed, wanted = tonumber(ARGV[3]), tonumber(ARGV[4])
local full_at = math.max(now, tonumber(redis.call('GET', KEYS[1]) or now))
local left = math.floor((now + window + 1 - full_at) / each)
if left < needed then
    return {0, math.max(0, left), math.ceil(full_at + needed * each - now - window)}
end
local granted = math.min(left, math.max(needed, math.min(wanted, math.ceil(left / 4))))  -- others may want some
full_at = full_at + granted * each
redis.call('SET', KEYS[1], string.format('%.0f', full_at), 'PX', math.ceil((full_at - now) / 1000))
return {granted, left - granted, math.ceil(full_at - now)}
