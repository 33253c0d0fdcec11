package gateway

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"time"
)

// Scale shortens the limits to what a test can wait for; before the first
// request.
func (s *Server) Scale(body int64, pause, grace, patience time.Duration) {
	s.limits.body, s.limits.pause, s.limits.grace, s.limits.patience = body, pause, grace, patience
}

// GrammarFaults is what the metrics say of answers that broke their grammar, ""
// if none did.
func (s *Server) GrammarFaults() string {
	w := httptest.NewRecorder()
	s.metrics.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return regexp.MustCompile(`(?m)^spillway_grammar_faults_total.*$`).FindString(w.Body.String())
}
