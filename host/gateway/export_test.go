package gateway

import "time"

// Scale shortens the limits to what a test can wait for; before the first
// request.
func (s *Server) Scale(body int64, pause, grace, patience time.Duration) {
	s.limits.body, s.limits.pause, s.limits.grace, s.limits.patience = body, pause, grace, patience
}
