// Package control is how another process of the same user asks a running host:
// HTTP over a unix socket in the profile's state folder, mode 0600. The file
// system decides who may ask.
//
// Several hosts may run one profile: each has a socket of its own. They share the
// profile's store, so it is enough to ask the first that answers.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"spillway/host/filelock"
	"spillway/host/profile"
	"spillway/host/state/record"
	"spillway/host/story"
	"spillway/sdk"
)

// Host is what a control server answers for.
type Host interface {
	Status(ctx context.Context) (story.StatusView, error)
	// Request returns a record, or sdk.ErrNotFound; "" means the last one.
	Request(ctx context.Context, id string) (record.Request, error)
	// Operate carries out a person's order; an error says what is wrong with it.
	Operate(ctx context.Context, o sdk.Order) error
}

// maxSocketPath is the longest path of a unix socket on every system we know
// (macOS has 104 bytes with the ending zero).
const maxSocketPath = 100

// maxHosts bounds the hosts of a profile.
const maxHosts = 16

// Path is the socket of a profile's first host. A folder whose path is too long
// for one has it in the folder for temporary files.
func Path(dir string) string { return socket(dir, 0) }

// socket is that of the host with n others before it.
func socket(dir string, n int) string {
	name := "control.sock"
	if n > 0 {
		name = fmt.Sprintf("control-%d.sock", n+1)
	}
	path := filepath.Join(dir, profile.StateDir, name)
	if len(path) <= maxSocketPath {
		return path
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, path)
	return filepath.Join(os.TempDir(), fmt.Sprintf("spillway-%d-%x.sock", os.Getuid(), h.Sum64()))
}

// maxOrder bounds an order.
const maxOrder = 64 << 10

// Server answers on a socket.
type Server struct {
	lock *os.File // held as long as it answers
	path string
	http *http.Server
	done chan struct{}
}

// Serve begins to answer for h, on the first socket of the profile that no living
// process has. A socket that a dead one left behind is replaced.
func Serve(dir string, h Host) (*Server, error) {
	for n := range maxHosts {
		path := socket(dir, n)
		lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, fmt.Errorf("control socket: %w", err)
		}
		taken, err := filelock.Take(lock)
		if err == nil && !taken {
			var s *Server
			if s, err = serve(path, lock, h); err == nil {
				return s, nil
			}
		}
		lock.Close()
		if err != nil {
			return nil, fmt.Errorf("control socket: %w", err)
		}
	}
	return nil, fmt.Errorf("profile %s is served by %d processes already, and no more may", dir, maxHosts)
}

func serve(path string, lock *os.File, h Host) (*Server, error) {
	l, err := listen(path)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) {
		v, err := h.Status(r.Context())
		reply(w, v, err)
	})
	mux.HandleFunc("GET /requests/{id}", func(w http.ResponseWriter, r *http.Request) {
		v, err := h.Request(r.Context(), r.PathValue("id"))
		reply(w, v, err)
	})
	mux.HandleFunc("GET /requests", func(w http.ResponseWriter, r *http.Request) {
		v, err := h.Request(r.Context(), "")
		reply(w, v, err)
	})
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var o sdk.Order
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOrder)).Decode(&o)
		if err == nil {
			err = h.Operate(r.Context(), o)
		}
		reply(w, struct{}{}, err)
	})
	s := &Server{lock: lock, path: path, http: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l)
	}()
	return s, nil
}

// listen opens the socket. One that is there was left by a process that died:
// the lock is ours.
func listen(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Path is the socket.
func (s *Server) Path() string { return s.path }

// Close stops answering and removes the socket.
func (s *Server) Close() {
	s.http.Close()
	<-s.done
	s.lock.Close()
}

func reply(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case errors.Is(err, sdk.ErrNotFound):
		w.WriteHeader(http.StatusNotFound)
	case err != nil:
		w.WriteHeader(http.StatusServiceUnavailable)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
	default:
		_ = json.NewEncoder(w).Encode(v)
	}
}

// ErrNotRunning is returned by a Client when nobody serves the profile.
var ErrNotRunning = errors.New("no host runs this profile")

// Client asks a host of a profile.
type Client struct{ http *http.Client }

// NewClient returns a client for the profile in dir. It asks the first of its
// hosts that answers.
func NewClient(dir string) *Client {
	return &Client{http: &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, dir) },
		},
	}}
}

// dial connects to the first socket where somebody listens.
func dial(ctx context.Context, dir string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", Path(dir))
	for n := 1; err != nil && n < maxHosts; n++ {
		if other, dialErr := d.DialContext(ctx, "unix", socket(dir, n)); dialErr == nil {
			return other, nil
		}
	}
	return c, err
}

// Status asks what is running.
func (c *Client) Status(ctx context.Context) (v story.StatusView, err error) {
	err = c.get(ctx, "/status", &v)
	return v, err
}

// Request asks for a record; "" means the last one.
func (c *Client) Request(ctx context.Context, id string) (rec record.Request, err error) {
	path := "/requests"
	if id != "" {
		path += "/" + url.PathEscape(id)
	}
	err = c.get(ctx, path, &rec)
	return rec, err
}

// Operate gives an order.
func (c *Client) Operate(ctx context.Context, o sdk.Order) error {
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return c.ask(ctx, http.MethodPost, "/orders", body, new(struct{}))
}

func (c *Client) get(ctx context.Context, path string, v any) error {
	return c.ask(ctx, http.MethodGet, path, nil, v)
}

func (c *Client) ask(ctx context.Context, method, path string, body []byte, v any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://spillway"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		if err := json.NewDecoder(resp.Body).Decode(v); err != nil {
			return fmt.Errorf("%w: what answers there is none of ours: %w", ErrNotRunning, err)
		}
		return nil
	case http.StatusNotFound:
		return sdk.ErrNotFound
	}
	var said struct {
		Error string `json:"error"`
	}
	if json.NewDecoder(io.LimitReader(resp.Body, maxOrder)).Decode(&said) == nil && said.Error != "" {
		return errors.New(said.Error)
	}
	return fmt.Errorf("host answers with status %d", resp.StatusCode)
}
