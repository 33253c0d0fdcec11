package supervisor

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/go-plugin"

	"spillway/sdk/serve"
)

// isHandshake tells the line with which a plugin says where it listens from
// whatever else it prints: "CORE|VERSION|unix|PATH|grpc|…", the first two of
// which are numbers.
func isHandshake(line string) bool {
	f := strings.Split(line, "|")
	return len(f) >= 4 && isNumber(f[0]) && isNumber(f[1]) && (f[2] == "unix" || f[2] == "tcp")
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

// refusal is why a host cannot talk to the plugin that said line, "" if it can.
func refusal(line string) string {
	const rebuild = "build it anew with this version's sdk"
	f := strings.Split(line, "|")
	switch {
	case f[0] != strconv.Itoa(plugin.CoreProtocolVersion):
		return fmt.Sprintf("speaks version %s of go-plugin's protocol (allowed: %d); %s", f[0], plugin.CoreProtocolVersion, rebuild)
	case f[1] != strconv.FormatUint(uint64(serve.Handshake.ProtocolVersion), 10):
		return fmt.Sprintf("speaks version %s of the plugin protocol (allowed: %d); %s", f[1], serve.Handshake.ProtocolVersion, rebuild)
	case len(f) < 5 || f[4] != string(plugin.ProtocolGRPC):
		return fmt.Sprintf("does not speak gRPC but %q (allowed: %s)", strings.Join(f[4:], "|"), plugin.ProtocolGRPC)
	}
	return ""
}
