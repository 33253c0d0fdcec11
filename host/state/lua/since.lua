-- ARGV: prefix, revision. Returns the latest revision and what there is after that one.
return {
  tonumber(redis.call('GET', latest) or 0),
  collect(redis.call('ZRANGEBYSCORE', revisions, '(' .. ARGV[2], '+inf'), ARGV[1]),
}
