-- KEYS: since when this Redis keeps signs, then a key for each sign. ARGV: milliseconds that a sign is kept, or none.
-- With ARGV the signs are set; without, the answer is the age in seconds of what is kept, and of each sign if it is there.
local now = tonumber(redis.call('TIME')[1])
redis.call('SET', KEYS[1], now, 'NX')
local answer = {now - tonumber(redis.call('GET', KEYS[1]))}
for i = 2, #KEYS do
    if ARGV[1] then
        redis.call('SET', KEYS[i], 1, 'PX', ARGV[1])
    else
        answer[i] = redis.call('EXISTS', KEYS[i])
    end
end
return answer
