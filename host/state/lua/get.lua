-- ARGV: key.
return collect({ARGV[1]}, '')
