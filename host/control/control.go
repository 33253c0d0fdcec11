// Package control is how another process of the same user asks a running host:
// HTTP over a unix socket in the profile's state folder, mode 0600. The file
// system decides who may ask.
package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

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
}

// maxSocketPath is the longest path of a unix socket on every system we know
// (macOS has 104 bytes with the ending zero).
const maxSocketPath = 100

// Path is the socket of a profile. A folder whose path is too long for one has
// it in the folder for temporary files.
func Path(dir string) string {
	path := filepath.Join(dir, profile.StateDir, "control.sock")
	if len(path) <= maxSocketPath {
		return path
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, path)
	return filepath.Join(os.TempDir(), fmt.Sprintf("spillway-%d-%x.sock", os.Getuid(), h.Sum64()))
}

// Server answers on a socket.
type Server struct {
	lock *os.File // held as long as it answers
	http *http.Server
	done chan struct{}
}

// Serve begins to answer for h. A socket that a dead process left behind is
// replaced. A profile that another process serves is an error.
func Serve(dir string, h Host) (*Server, error) {
	path := Path(dir)
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := hold(lock); err != nil {
		lock.Close()
		return nil, fmt.Errorf("profile %s is served already (another process holds %s)", dir, lock.Name())
	}
	l, err := listen(path)
	if err != nil {
		lock.Close()
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
	s := &Server{lock: lock, http: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}, done: make(chan struct{})}
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

// Client asks the host of a profile.
type Client struct{ http *http.Client }

// NewClient returns a client for the profile in dir.
func NewClient(dir string) *Client {
	path := Path(dir)
	return &Client{http: &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				var d net.Dialer
				return d.DialContext(ctx, "unix", path)
			},
		},
	}}
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
		path += "/" + id
	}
	err = c.get(ctx, path, &rec)
	return rec, err
}

func (c *Client) get(ctx context.Context, path string, v any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://spillway"+path, nil)
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
		return json.NewDecoder(resp.Body).Decode(v)
	case http.StatusNotFound:
		return sdk.ErrNotFound
	}
	return fmt.Errorf("host answers with status %d", resp.StatusCode)
}
