package clients

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"spillway/host/sim"
)

// clientKey is what the client programs send as their key.
const clientKey = "canary-of-the-client"

// toolResult is what the tool told the client.
const toolResult = `{"sky":"<clear> & \"cold\"","wind":"3 m/s — Nord-Ost","emoji":"🌦"}`

// arguments are what the model calls the tool with: the simulated vendors take
// the defaults of the schema.
var arguments = map[string]any{
	"place": `Åre "north" \ <b>雪</b> & more`,
	"days":  3.0,
	"at":    map[string]any{"lat": 63.4, "tags": []any{"a", "", nil, true}},
}

// task is what a client program reads; see gosdk/main.go.
type task struct {
	Model      string   `json:"model"`
	Steps      []string `json:"steps"`
	Prompt     string   `json:"prompt"`
	ToolPrompt string   `json:"tool_prompt"`
	Tool       tool     `json:"tool"`
	ToolResult string   `json:"tool_result"`
}

type tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Properties  map[string]any `json:"properties"`
	Required    []string       `json:"required"`
}

func newTask(steps []string) task {
	types := map[string]string{"place": "string", "days": "integer", "at": "object"}
	properties := map[string]any{}
	for name, value := range arguments {
		properties[name] = map[string]any{"type": types[name], "default": value}
	}
	return task{
		Model: "claude-sonnet-5", Steps: steps,
		Prompt:     "Say something.",
		ToolPrompt: "Please call get_weather.",
		Tool: tool{
			Name: "get_weather", Description: "What the weather is like.",
			Properties: properties, Required: slices.Sorted(maps.Keys(properties)),
		},
		ToolResult: toolResult,
	}
}

// answer is one answer of the model as a client program prints it.
type answer struct {
	Step      string `json:"step"`
	Text      string `json:"text"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"` // as canonical has them
	Finish    string `json:"finish"`
	Input     int64  `json:"input"` // tokens
	Output    int64  `json:"output"`
}

// some is the output of a tool call: how many tokens that is only the simulator
// knows.
const some = -1

func parseAnswer(line []byte) (a answer, err error) {
	if err := json.Unmarshal(line, &a); err != nil {
		return a, err
	}
	if a.Tool != "" && a.Output > 0 {
		a.Output = some
	}
	if a.Arguments != "" {
		a.Arguments, err = canonical([]byte(a.Arguments))
	}
	return a, err
}

// canonical writes JSON in one of the ways it can be written.
func canonical(data []byte) (string, error) {
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return "", err
	}
	data, err := json.Marshal(v)
	return string(data), err
}

// says is what a vendor answers a prompt without a tool.
func says(vendor string) string {
	return vendor + ` says: "Zwölf Boxkämpfer" & <i>naïve</i> \ 中文 🚣🏽 jagen data: [DONE] Viktor.`
}

// answers are what a client is to understand when the vendor gives it all the
// answers, to calls.
func answers(t *testing.T, sdk, vendor string, steps []string, calls []sim.Call) []answer {
	t.Helper()
	end, tool := "stop", "tool_calls"
	switch sdk {
	case "anthropic":
		end, tool = "end_turn", "tool_use"
	case "responses":
		end, tool = "completed", "completed"
	}
	args, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	var all []answer
	add := func(a answer) {
		if n := len(all); n < len(calls) {
			a.Input = (calls[n].RequestBytes + 3) / 4 // as the simulator counts
		}
		if a.Text != "" {
			a.Output = int64(len(strings.Fields(a.Text)))
		}
		all = append(all, a)
	}
	for _, step := range steps {
		if !strings.HasPrefix(step, "tool") {
			add(answer{Step: step, Text: says(vendor), Finish: end})
			continue
		}
		add(answer{Step: step, Tool: "get_weather", Arguments: string(args), Finish: tool, Output: some})
		add(answer{Step: step + " result", Text: "The tool told " + vendor + ": " + toolResult, Finish: end})
	}
	for i, a := range all {
		if sdk == "openai" && a.Step == "stream" { // which does not ask for its usage
			all[i].Input, all[i].Output = 0, 0
		}
	}
	return all
}
