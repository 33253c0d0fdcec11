package upstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"
)

// orders tells vendors how to behave, by name; without any it only asks.
type orders map[string]Behaviour

// reply is what the vendors had seen when an order came.
type reply struct {
	Seen  map[string]Seen
	Error string
}

// Serve serves vendors at the addresses, by name, until in ends. It writes their
// URLs to out as a line of JSON, then a reply for each line of orders. Addresses
// are on loopback; port 0 finds one.
func Serve(in io.Reader, out io.Writer, addresses map[string]string) (err error) {
	turned := &turnedAway{}
	vendors, urls := map[string]*vendor{}, map[string]string{}
	defer func() {
		for _, v := range vendors {
			err = errors.Join(err, v.close())
		}
	}()
	for name, address := range addresses {
		v, err := newVendor(name, address, turned)
		if err != nil {
			return fmt.Errorf("vendor %q: %w", name, err)
		}
		vendors[name], urls[name] = v, "http://"+v.address
	}
	answers := json.NewEncoder(out)
	if err := answers.Encode(urls); err != nil {
		return err
	}
	for lines := json.NewDecoder(in); ; {
		var o orders
		if err := lines.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		r := reply{Seen: map[string]Seen{}}
		for name, v := range vendors {
			r.Seen[name] = v.seen()
		}
		if len(o) > 0 {
			turned.forget()
		}
		for name, b := range o {
			v, ok := vendors[name]
			if !ok {
				r.Error = fmt.Sprintf("vendor %q: there is none", name)
			} else if err := v.behave(b); err != nil {
				r.Error = fmt.Sprintf("vendor %q: %v", name, err)
			}
		}
		if err := answers.Encode(r); err != nil {
			return err
		}
	}
}

// Control tells the vendors of a process how to behave.
type Control struct {
	urls map[string]string

	mu  sync.Mutex
	in  *json.Encoder
	out *json.Decoder
}

// NewControl talks to a process that runs Serve, by its standard input and output.
func NewControl(in io.Writer, out io.Reader) (*Control, error) {
	c := &Control{in: json.NewEncoder(in), out: json.NewDecoder(out)}
	if err := c.out.Decode(&c.urls); err != nil {
		return nil, fmt.Errorf("vendors: %w", err)
	}
	return c, nil
}

// URLs are those of the vendors, by name, without a path.
func (c *Control) URLs() map[string]string { return maps.Clone(c.urls) }

// Behave changes how the named vendors behave; all of them count anew.
func (c *Control) Behave(all map[string]Behaviour) error {
	_, err := c.order(all)
	return err
}

// Seen is what the vendors have counted, by name.
func (c *Control) Seen() (map[string]Seen, error) { return c.order(orders{}) }

func (c *Control) order(o orders) (map[string]Seen, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.in.Encode(o); err != nil {
		return nil, fmt.Errorf("vendors: %w", err)
	}
	var r reply
	if err := c.out.Decode(&r); err != nil {
		return nil, fmt.Errorf("vendors: %w", err)
	}
	if r.Error != "" {
		return nil, errors.New(r.Error)
	}
	return r.Seen, nil
}
