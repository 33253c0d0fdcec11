package state

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxRedisURL    = 2048 // bytes
	maxRedisPrefix = 128  // bytes
	maxRedisDB     = 1<<16 - 1
	redisPort      = "6379"
)

// Redis says where a Redis or Valkey is and which keys there are ours. However
// it is printed, only its address appears.
type Redis struct {
	network  string // tcp or unix
	address  string
	tls      *tls.Config // nil: in the clear
	username string
	password string
	db       int
	prefix   string
}

// ParseRedis reads a URL:
//
//	redis://[[user]:password@]host[:port][/db]
//	rediss://, the same over TLS
//	unix://[[user]:password@]/path/of/socket[?db=N]
//
// All machines that share a state use the same prefix, such as
// "spillway:default"; it must not be empty, nor have braces in it. No error
// quotes the URL, because a password with a bare "/" in it may be anywhere.
func ParseRedis(rawURL, prefix string) (*Redis, error) {
	if err := checkRedisPrefix(prefix); err != nil {
		return nil, err
	}
	if len(rawURL) > maxRedisURL {
		return nil, fmt.Errorf("redis url: %d bytes, at most %d are allowed", len(rawURL), maxRedisURL)
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errors.New("redis url: not a URL; signs like / and @ in a password are written as %2F and %40")
	}
	r := &Redis{prefix: prefix, username: u.User.Username()}
	r.password, _ = u.User.Password()
	var db string
	switch u.Scheme {
	case "redis", "rediss":
		db, err = r.parseHost(u)
	case "unix":
		db, err = r.parseSocket(u)
	default:
		err = errors.New("must begin with redis://, rediss:// or unix://")
	}
	if err == nil && u.Fragment != "" {
		err = errors.New(`# is not allowed; in a password it is written as %23`)
	}
	if err == nil && db != "" {
		if r.db, err = strconv.Atoi(db); err != nil || r.db < 0 || r.db > maxRedisDB {
			err = errors.New("the database must be a number from 0")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("redis url: %w", err)
	}
	return r, nil
}

func (r *Redis) parseHost(u *url.URL) (db string, err error) {
	if u.Hostname() == "" {
		return "", errors.New("no host")
	}
	if u.RawQuery != "" || u.Opaque != "" {
		return "", errors.New("only a host, a port and a database are allowed")
	}
	port := u.Port()
	if port == "" {
		port = redisPort
	}
	r.network, r.address = "tcp", net.JoinHostPort(u.Hostname(), port)
	if u.Scheme == "rediss" {
		r.tls = &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
	}
	return strings.TrimPrefix(u.Path, "/"), nil
}

func (r *Redis) parseSocket(u *url.URL) (db string, err error) {
	if u.Host != "" || len(u.Path) < 2 {
		return "", errors.New("unix:// needs the absolute path of a socket")
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil || len(q) > 1 || len(q) == 1 && len(q["db"]) != 1 {
		return "", errors.New("only ?db=N is allowed after the path")
	}
	r.network, r.address = "unix", u.Path
	return q.Get("db"), nil
}

func checkRedisPrefix(prefix string) error {
	switch {
	case prefix == "":
		return errors.New("redis prefix: empty")
	case len(prefix) > maxRedisPrefix:
		return fmt.Errorf("redis prefix: %d bytes, at most %d are allowed", len(prefix), maxRedisPrefix)
	case !utf8.ValidString(prefix), strings.ContainsAny(prefix, "{}"), strings.ContainsFunc(prefix, unicode.IsControl):
		return fmt.Errorf("redis prefix %q: braces and control characters are not allowed", prefix)
	}
	return nil
}

// String is the address, without user and password.
func (r Redis) String() string {
	db := strconv.Itoa(r.db)
	if r.network == "unix" {
		return (&url.URL{Scheme: "unix", Path: r.address, RawQuery: "db=" + db}).String()
	}
	u := url.URL{Scheme: "redis", Host: r.address, Path: db}
	if r.tls != nil {
		u.Scheme = "rediss"
	}
	return u.String()
}

// Format answers every verb, %+v and %#v included.
func (r Redis) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.String()) }

// redact takes the password out of a text of somebody else's.
func (r Redis) redact(text string) string {
	if r.password == "" {
		return text
	}
	return strings.ReplaceAll(text, r.password, "[redacted]")
}
