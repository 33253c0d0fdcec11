package cli

import (
	"net"
)

// notify tells the service manager that has started this process, if one wants to
// know, what has become of it: the datagrams of sd_notify(3).
func (a *app) notify(state string) error {
	socket, ok := a.env("NOTIFY_SOCKET")
	if !ok || socket == "" {
		return nil
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Write([]byte(state))
	return err
}
