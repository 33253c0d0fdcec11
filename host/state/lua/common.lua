-- What every script begins with. The state of a profile is seven keys:
--   data       hash    key -> data, of live items
--   names      zset    keys of live items, all with score 0: in order of bytes
--   revisions  zset    key -> revision, tombstones included
--   ends       zset    key -> end in milliseconds, of what has one
--   latest     string  the latest revision
--   told       string  the latest revision that is for watchers
--   burst      string  how many were published lately, for a moment
-- Revisions are whole numbers below 2^53, which Lua and scores hold exactly.
local data, names, revisions, ends, latest, told, burst = unpack(KEYS)

local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
local now = math.floor(micros / 1000)

-- look returns an item's revision and its milliseconds to live (0: for ever),
-- or false if there is none or it has expired.
local function look(key)
  local revision = redis.call('ZSCORE', revisions, key)
  if not revision then
    return false
  end
  local stop = redis.call('ZSCORE', ends, key)
  local left = stop and tonumber(stop) - now or 0
  if stop and left <= 0 then
    return false
  end
  return tonumber(revision), left
end

-- collect returns key, revision, time to live and data (false: a tombstone) of
-- those keys that begin with a prefix, one after the other.
local function collect(keys, prefix)
  local found = {}
  for _, key in ipairs(keys) do
    if string.sub(key, 1, #prefix) == prefix then
      local revision, left = look(key)
      if revision then
        local n = #found
        found[n + 1], found[n + 2], found[n + 3], found[n + 4] =
          key, revision, left, redis.call('HGET', data, key)
      end
    end
  end
  return found
end

