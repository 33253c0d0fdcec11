package drill

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"spillway/sdk"
)

// A file of tasks has one on each line, a JSON object:
//
//	{"prompt": "…", "checks": [{"contains": "…"}, …]}
//
// and may give "system", "tools" (a list of {"name", "description", "parameters"})
// and "max_tokens" (1 to 32768, default 1024). Each check is one of
//
//	contains     the answer holds this text
//	equals       the answer is this text, white space around it aside
//	regexp       this regular expression (Go's syntax) matches in the answer
//	json_schema  the answer is JSON that this schema accepts
//	calls        the answer calls the tool of this name
//
// A task is done if all of its checks hold. Empty lines are left out.

// Bounds of a file of tasks.
const (
	maxEvalFile  = 16 << 20
	maxTasks     = 1000
	maxChecks    = 32
	maxOutput    = 32768
	usualOutput  = 1024
	maxEvalFault = 20 // that are told
)

// Tasks are what a file asks.
type Tasks struct {
	SHA256 string
	tasks  []task
}

type task struct {
	prompt *sdk.Prompt
	shape  sdk.Shape
	checks []check
}

// check is one demand on an answer.
type check struct {
	contains, equals, calls string
	expression              *regexp.Regexp
	schema                  *jsonschema.Schema
}

// taskLine is a line as users write it.
type taskLine struct {
	Prompt string `json:"prompt"`
	System string `json:"system"`
	Tools  []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"tools"`
	MaxTokens int         `json:"max_tokens"`
	Checks    []checkLine `json:"checks"`
}

type checkLine struct {
	Contains *string         `json:"contains"`
	Equals   *string         `json:"equals"`
	Regexp   *string         `json:"regexp"`
	Schema   json.RawMessage `json:"json_schema"`
	Calls    *string         `json:"calls"`
}

// ReadTasks reads a file of tasks. The error tells every line that is wrong, with
// its number and what is allowed.
func ReadTasks(path string) (*Tasks, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, UsageError{err}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEvalFile+1))
	if err != nil {
		return nil, UsageError{err}
	}
	t, err := parseTasks(data)
	if err != nil {
		return nil, UsageError{fmt.Errorf("%s: %w", path, err)}
	}
	return t, nil
}

func parseTasks(data []byte) (*Tasks, error) {
	if len(data) > maxEvalFile {
		return nil, fmt.Errorf("larger than %d MB", maxEvalFile>>20)
	}
	sum := sha256.Sum256(data)
	t := &Tasks{SHA256: hex.EncodeToString(sum[:])}
	var faults []error
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		one, err := parseTask(line)
		switch {
		case err == nil:
			t.tasks = append(t.tasks, one)
		case len(faults) < maxEvalFault:
			faults = append(faults, fmt.Errorf("line %d: %w", number, err))
		}
	}
	switch {
	case faults != nil:
		return nil, errors.Join(faults...)
	case len(t.tasks) == 0:
		return nil, errors.New(`no task (allowed: lines like {"prompt": "…", "checks": [{"contains": "…"}]})`)
	case len(t.tasks) > maxTasks:
		return nil, fmt.Errorf("%d tasks, at most %d are allowed", len(t.tasks), maxTasks)
	}
	return t, nil
}

func parseTask(line []byte) (t task, err error) {
	var l taskLine
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return t, fmt.Errorf("%v (allowed: prompt, system, tools, max_tokens, checks; in checks contains, equals, regexp, json_schema, calls)", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return t, errors.New("something stands behind the object (allowed: one object on a line)")
	}
	switch {
	case l.Prompt == "":
		return t, errors.New("prompt: missing")
	case len(l.Checks) == 0 || len(l.Checks) > maxChecks:
		return t, fmt.Errorf("checks: %d (allowed: 1 to %d)", len(l.Checks), maxChecks)
	case l.MaxTokens < 0 || l.MaxTokens > maxOutput:
		return t, fmt.Errorf("max_tokens: got %d (allowed: 1 to %d)", l.MaxTokens, maxOutput)
	case l.MaxTokens == 0:
		l.MaxTokens = usualOutput
	}
	t.prompt = &sdk.Prompt{MaxTokens: l.MaxTokens, Messages: []sdk.Message{{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart(l.Prompt)}}}}
	if l.System != "" {
		t.prompt.System = []sdk.Part{sdk.TextPart(l.System)}
	}
	var names []string
	for i, tool := range l.Tools {
		if tool.Name == "" {
			return t, fmt.Errorf("tools[%d]: no name", i)
		}
		if tool.Parameters == nil {
			tool.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		names = append(names, tool.Name)
		t.prompt.Tools = append(t.prompt.Tools, sdk.Tool{Name: tool.Name, Description: tool.Description, Schema: tool.Parameters})
	}
	t.shape = sdk.Shape{PromptTokens: len(line)/4 + 1, Messages: 1, Tools: len(l.Tools)}
	for i, c := range l.Checks {
		one, err := c.parse(names)
		if err != nil {
			return t, fmt.Errorf("checks[%d]: %w", i, err)
		}
		t.checks = append(t.checks, one)
	}
	return t, nil
}

func (l checkLine) parse(tools []string) (c check, err error) {
	given := 0
	for _, is := range []bool{l.Contains != nil, l.Equals != nil, l.Regexp != nil, l.Schema != nil, l.Calls != nil} {
		if is {
			given++
		}
	}
	if given != 1 {
		return c, fmt.Errorf("%d demands (allowed: one of contains, equals, regexp, json_schema, calls)", given)
	}
	switch {
	case l.Contains != nil && *l.Contains != "":
		c.contains = *l.Contains
	case l.Equals != nil && strings.TrimSpace(*l.Equals) != "":
		c.equals = strings.TrimSpace(*l.Equals)
	case l.Calls != nil:
		if !slices.Contains(tools, *l.Calls) {
			return c, fmt.Errorf("calls: got %q (allowed: a tool of this line: %s)", *l.Calls, strings.Join(tools, ", "))
		}
		c.calls = *l.Calls
	case l.Regexp != nil:
		if c.expression, err = regexp.Compile(*l.Regexp); err != nil {
			return c, fmt.Errorf("regexp: %w", err)
		}
	case l.Schema != nil:
		if c.schema, err = compileSchema(l.Schema); err != nil {
			return c, fmt.Errorf("json_schema: %w", err)
		}
	default:
		return c, errors.New("an empty text (allowed: one that is not)")
	}
	return c, nil
}

// compileSchema makes a schema that refers to nothing outside itself.
func compileSchema(raw json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	const name = "task.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // none: nothing is fetched
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// holds reports whether an answer is as demanded.
func (c check) holds(got reply) bool {
	switch {
	case c.contains != "":
		return strings.Contains(got.text, c.contains)
	case c.equals != "":
		return strings.TrimSpace(got.text) == c.equals
	case c.calls != "":
		return slices.Contains(got.tools, c.calls)
	case c.expression != nil:
		return c.expression.MatchString(got.text)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(got.text))
	return err == nil && c.schema.Validate(v) == nil
}
