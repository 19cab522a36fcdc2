-- Counts a request against a quota that refills evenly. KEYS: the subject. ARGV: the quota, its window in microseconds.
-- Kept is the moment at which the quota will be full again. Gives: passes or not, what is left, microseconds to wait.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local window, each = tonumber(ARGV[2]), ARGV[2] / ARGV[1]
local full_at = math.max(now, tonumber(redis.call('GET', KEYS[1]) or now)) + each
if full_at > now + window + 1 then
    return {0, 0, math.ceil(full_at - now - window)}
end
redis.call('SET', KEYS[1], string.format('%.0f', full_at), 'PX', math.ceil((full_at - now) / 1000))
return {1, math.floor((now + window + 1 - full_at) / each), math.ceil(full_at - now)}
