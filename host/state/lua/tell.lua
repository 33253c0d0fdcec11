-- ARGV: revision, channel. Tells that there were changes up to a revision, if it is
-- the last one: else whoever has made a later one tells of it. Its message names no
-- item, and itself as the one before it, which nobody has heard who has to ask.
if redis.call('GET', told) == ARGV[1] then
  redis.pcall('PUBLISH', ARGV[2], table.concat({ARGV[1], ARGV[1], '0', ''}, '\0'))
end
return 0
