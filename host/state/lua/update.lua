-- ARGV: key, verb, revision that the item must have ('': any), data,
-- milliseconds to live (0: for ever), those of a tombstone, channel ('': nobody
-- need hear of it).
-- Returns the item's revision, negative if it is still to be told (see tell.lua), or
-- the status CONFLICT or ABSENT.
local key, verb, at, value, ttl, mourning, channel = unpack(ARGV)

local revision = 0
if redis.call('HEXISTS', data, key) == 1 then
  revision = look(key) or 0
end
if at ~= '' and tonumber(at) ~= revision then
  return {ok = 'CONFLICT'}
end
if verb ~= 'put' and revision == 0 then
  return {ok = 'ABSENT'}
end

-- Rounded up: an end comes late rather than early.
local function finish(life)
  if life == '0' then
    redis.call('ZREM', ends, key)
  else
    redis.call('ZADD', ends, math.ceil(micros / 1000) + life, key)
  end
end

if verb == 'extend' then
  finish(ttl)
  return revision
end

-- A store that was lost, or a replica that had not heard of everything, goes
-- on above whatever was there before, because time does.
revision = math.max(tonumber(redis.call('GET', latest) or 0) + 1, micros)
local text = string.format('%.0f', revision)

-- A server that is out of memory, read-only or unable to save refuses the first
-- write of a script, so nothing or everything is done. Removing, which makes
-- room, begins with a write that is never refused for memory.
if verb == 'remove' then
  redis.call('HDEL', data, key)
  redis.call('ZREM', names, key)
  redis.call('SET', latest, text)
  finish(mourning)
else
  redis.call('SET', latest, text)
  redis.call('HSET', data, key, value)
  redis.call('ZADD', names, 0, key)
  finish(ttl)
end
redis.call('ZADD', revisions, text, key)

-- Some of what has expired goes with every change.
for _, old in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now, 'LIMIT', 0, 16)) do
  redis.call('HDEL', data, old)
  redis.call('ZREM', names, old)
  redis.call('ZREM', revisions, old)
  redis.call('ZREM', ends, old)
end

-- The change itself is told, and which one was told before it: who has missed that
-- one knows by this. Keys have no NUL. Whoever may not publish is heard of with the
-- next change of somebody who may.
if channel ~= '' then
  local message = {text, redis.call('GET', told) or '0', ttl, key, value}
  if verb == 'remove' then
    message[3], message[5] = mourning, nil
  end
  redis.call('SET', told, text)
  -- When all machines find the same at once each would tell each. Of more than a
  -- few changes in a moment only the first are told so; who misses the others asks.
  -- The moment is long enough for a thousand machines to ask in it.
  local count = redis.call('INCR', burst)
  if count == 1 then
    redis.call('PEXPIRE', burst, 200)
  elseif count > 8 then
    return -revision
  end
  redis.pcall('PUBLISH', channel, table.concat(message, '\0'))
end
return revision
