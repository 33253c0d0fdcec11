-- ARGV: prefix, the least string beyond all that begin with it.
return collect(redis.call('ZRANGEBYLEX', names, '[' .. ARGV[1], '(' .. ARGV[2]), ARGV[1])
