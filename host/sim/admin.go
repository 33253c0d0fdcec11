package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
)

// adminHandler serves
//
//	GET /_sim/vendors              names, addresses, models and scripts
//	GET /_sim/script?vendor=NAME   the script in its text form
//	PUT /_sim/script?vendor=NAME   replaces it
//	GET /_sim/log[?vendor=NAME]    the calls, oldest first
//
// NAME may be left out where there is one vendor only. It has a port of its own
// because a vendor that refuses connections could not be told to stop. Pages in
// a browser cannot use it: only requests for a loopback host and from the same
// origin are served.
func (s *Server) adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_sim/vendors", func(w http.ResponseWriter, _ *http.Request) {
		type vendor struct {
			Name   string   `json:"name"`
			URL    string   `json:"url"`
			Models []string `json:"models"`
			Script string   `json:"script"`
		}
		list := []vendor{}
		for _, e := range s.endpoints {
			list = append(list, vendor{e.Name(), e.URL(), e.Models(), e.Script()})
		}
		writeJSON(w, list)
	})
	mux.HandleFunc("GET /_sim/script", s.forVendor(func(w http.ResponseWriter, _ *http.Request, e *Endpoint) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(w, e.Script())
	}))
	mux.HandleFunc("PUT /_sim/script", s.forVendor(func(w http.ResponseWriter, r *http.Request, e *Endpoint) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxScript))
		if err == nil {
			err = e.SetScript(string(text))
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	mux.HandleFunc("GET /_sim/log", func(w http.ResponseWriter, r *http.Request) {
		if !r.URL.Query().Has("vendor") {
			writeJSON(w, append([]Call{}, s.Calls()...))
			return
		}
		s.forVendor(func(w http.ResponseWriter, _ *http.Request, e *Endpoint) { writeJSON(w, e.Calls()) })(w, r)
	})
	return loopbackOnly(http.NewCrossOriginProtection().Handler(mux))
}

// forVendor finds the vendor that a request names.
func (s *Server) forVendor(handle func(http.ResponseWriter, *http.Request, *Endpoint)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		e, err := s.named(r.URL.Query().Get("vendor"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		handle(w, r, e)
	}
}

func (s *Server) named(name string) (*Endpoint, error) {
	if name == "" && len(s.endpoints) == 1 {
		return s.endpoints[0], nil
	}
	if e := s.Vendor(name); e != nil {
		return e, nil
	}
	if name == "" {
		return nil, errors.New("want ?vendor=NAME: there are several")
	}
	return nil, fmt.Errorf("vendor %q: there is none", name)
}

// loopbackOnly keeps out a page whose host name was made to point here.
func loopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, fmt.Sprintf("host %q: not served", r.Host), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// writeJSON writes v. Whoever asked and left does not need it any more.
func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
