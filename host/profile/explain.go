package profile

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	schemakind "github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// explain says what is wrong and what is allowed, for a fault of a value as it
// stands.
func explain(k jsonschema.ErrorKind) (text, allowed string) {
	switch k := k.(type) {
	case *schemakind.Type:
		return "wrong type", strings.Join(k.Want, " or ")
	case *schemakind.Enum:
		return "not one of the possible values", join(k.Want)
	case *schemakind.Const:
		return "not the one possible value", join([]any{k.Want})
	case *schemakind.Minimum:
		return "too small", "at least " + number(k.Want)
	case *schemakind.Maximum:
		return "too large", "at most " + number(k.Want)
	case *schemakind.ExclusiveMinimum:
		return "too small", "more than " + number(k.Want)
	case *schemakind.ExclusiveMaximum:
		return "too large", "less than " + number(k.Want)
	case *schemakind.MultipleOf:
		return "not a multiple", "multiples of " + number(k.Want)
	case *schemakind.MinLength:
		return "too short", fmt.Sprintf("at least %d characters", k.Want)
	case *schemakind.MaxLength:
		return "too long", fmt.Sprintf("at most %d characters", k.Want)
	case *schemakind.MinItems:
		return "too few items", fmt.Sprintf("at least %d", k.Want)
	case *schemakind.MaxItems:
		return "too many items", fmt.Sprintf("at most %d", k.Want)
	case *schemakind.Pattern:
		return "does not have the right form", "text that matches " + k.Want
	case *schemakind.Format:
		return "does not have the right form", k.Want
	case *schemakind.UniqueItems:
		return fmt.Sprintf("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1]), "each item once"
	case *schemakind.FalseSchema:
		return "not possible here", ""
	}
	return k.LocalizedString(message.NewPrinter(language.English)), ""
}

// number writes an exact decimal, to at most 10 digits behind the point.
func number(r *big.Rat) string {
	s := r.FloatString(10)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func join(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		b, err := json.Marshal(v)
		if err != nil {
			b = fmt.Append(nil, v)
		}
		texts[i] = string(b)
	}
	return strings.Join(texts, ", ")
}
