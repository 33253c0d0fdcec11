package host

import (
	"fmt"
	"os"
)

// planVariable switches standing plans off, to compare and to find faults.
const planVariable = "SPILLWAY_PLAN"

// VariableError is a value of an environment variable that means nothing.
type VariableError struct {
	Name, Value string
	Allowed     string
}

func (e *VariableError) Error() string {
	return fmt.Sprintf("%s: got %q (allowed: %s)", e.Name, e.Value, e.Allowed)
}

// askAlways reads planVariable: whether plugins are asked about every call.
func askAlways() (bool, error) {
	switch v := os.Getenv(planVariable); v {
	case "", "on":
		return false, nil
	case "off":
		return true, nil
	default:
		return false, &VariableError{planVariable, v, "on, off"}
	}
}
