package record

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Duration is a time.Duration that JSON has as a number of milliseconds, to
// the microsecond.
type Duration time.Duration

// MarshalJSON writes milliseconds.
func (d Duration) MarshalJSON() ([]byte, error) { return d.append(nil), nil }

func (d Duration) append(dst []byte) []byte {
	us := time.Duration(d).Round(time.Microsecond).Microseconds()
	return strconv.AppendFloat(dst, float64(us)/1000, 'f', -1, 64)
}

// UnmarshalJSON reads milliseconds.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var ms float64
	if err := json.Unmarshal(b, &ms); err != nil {
		return err
	}
	us := math.Round(ms * 1000)
	if math.Abs(us) > math.MaxInt64/1000 {
		return fmt.Errorf("duration %s ms: out of range", b)
	}
	*d = Duration(time.Duration(us) * time.Microsecond)
	return nil
}

// String is that of time.Duration.
func (d Duration) String() string { return time.Duration(d).String() }
