-- ARGV: prefix, revision.
return collect(redis.call('ZRANGEBYSCORE', revisions, '(' .. ARGV[2], '+inf'), ARGV[1])
