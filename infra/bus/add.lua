-- Adds entries to a stream, in order, up to the first that cannot be added; one that is there already is passed over.
-- KEYS: the stream. ARGV: how many entries to keep, the field's name, then id and field of each entry.
local number, fault = 0, ''
for i = 3, #ARGV, 2 do
    local answer = redis.pcall('XADD', KEYS[1], ARGV[i], ARGV[2], ARGV[i + 1])
    if type(answer) == 'table' and answer.err and not string.find(answer.err, 'equal or smaller', 1, true) then
        fault = answer.err
        break
    end
    number = number + 1
end
if number > 0 then
    redis.call('XTRIM', KEYS[1], 'MAXLEN', '~', ARGV[1])
end
return {number, fault}
