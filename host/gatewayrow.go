package host

import (
	_ "embed"
	"encoding/json"
	"slices"
	"time"

	"spillway/host/profile"
)

//go:embed gateway.schema.json
var gatewaySchema []byte

// moduleGateway is the built-in module by which a profile says how the gateway
// treats its clients.
const moduleGateway = "gateway"

// Gateway is how the gateway treats its clients.
type Gateway struct {
	// HoldHeaders is how long a stream's headers wait for its first content. The
	// most impatient of real clients want a first byte within 60 s.
	HoldHeaders time.Duration
	// KeepAlive is the silence after which a client is told that its answer is
	// still under way.
	KeepAlive time.Duration
	// CheckGrammar is the share of streamed answers, from 0 to 1, whose shape is
	// checked as they are sent.
	CheckGrammar float64
}

func defaultGateway() Gateway {
	return Gateway{HoldHeaders: 45 * time.Second, KeepAlive: 15 * time.Second}
}

// readGateway reads the config of an entry.
func readGateway(e profile.Entry) (*Gateway, error) {
	if err := validate(e, gatewaySchema); err != nil {
		return nil, err
	}
	raw, err := configJSON(e)
	if err != nil {
		return nil, err
	}
	var c struct {
		HoldHeaders  int64   `json:"holdHeadersMs"`
		KeepAlive    int64   `json:"keepAliveMs"`
		CheckGrammar float64 `json:"checkGrammar"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	g := defaultGateway()
	g.CheckGrammar = c.CheckGrammar
	if c.HoldHeaders > 0 {
		g.HoldHeaders = time.Duration(c.HoldHeaders) * time.Millisecond
	}
	if c.KeepAlive > 0 {
		g.KeepAlive = time.Duration(c.KeepAlive) * time.Millisecond
	}
	return &g, nil
}

// Gateway is how the gateway treats its clients; of several entries the last
// counts.
func (g *Graph) Gateway() Gateway {
	for _, u := range slices.Backward(g.units) {
		if u.gateway != nil {
			return *u.gateway
		}
	}
	return defaultGateway()
}
