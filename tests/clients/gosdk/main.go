// Gosdk talks to a gateway through the official Go SDKs and prints what they
// understood. It is the client in a test, and a module of its own so that the
// SDKs stay out of the project's module graph.
//
//	gosdk BASE_URL openai|responses|anthropic < task.json
//
// Each answer of the model is one line of JSON on standard output. An error of
// an SDK ends the program with status 1; SDKs repeat nothing by themselves here,
// or they would hide what the gateway lets through.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// key is one that no vendor knows: the gateway has its own. The test looks for it
// where no key may be.
const key = "canary-of-the-client"

// task is what to talk about.
type task struct {
	Model string `json:"model"`
	// Steps are conversations: "call", "stream", "tool" or "tool-stream". The
	// last two offer the tool and send its result back. Only "tool-stream" asks
	// an OpenAI stream for its usage.
	Steps      []string `json:"steps"`
	Prompt     string   `json:"prompt"`
	ToolPrompt string   `json:"tool_prompt"`
	Tool       tool     `json:"tool"`
	ToolResult string   `json:"tool_result"`
}

type tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Properties  map[string]any `json:"properties"` // of its arguments, all required
	Required    []string       `json:"required"`
}

// answer is one answer of the model.
type answer struct {
	Step      string `json:"step"`
	Text      string `json:"text"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
	Finish    string `json:"finish"`
	Input     int64  `json:"input"` // tokens
	Output    int64  `json:"output"`

	callID string
}

// chat is one conversation.
type chat interface {
	say(prompt string)
	result(callID, text string)
	// next asks for the model's turn and adds it to the conversation.
	next(ctx context.Context, stream bool) (answer, error)
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gosdk:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want BASE_URL and openai, responses or anthropic, got %q", args)
	}
	chats := map[string]func(url string, t task, tools bool) chat{"openai": newOpenAI, "responses": newResponses, "anthropic": newAnthropic}
	newChat, ok := chats[args[1]]
	if !ok {
		return fmt.Errorf("unknown SDK %q", args[1])
	}
	var t task
	if err := json.NewDecoder(os.Stdin).Decode(&t); err != nil {
		return fmt.Errorf("task: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, step := range t.Steps {
		tools := strings.HasPrefix(step, "tool")
		if err := converse(ctx, newChat(args[0], t, tools), t, step, tools); err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
	}
	return nil
}

// converse has one conversation and prints the model's turns.
func converse(ctx context.Context, c chat, t task, step string, tools bool) error {
	stream := strings.HasSuffix(step, "stream")
	turn := func(name string) (answer, error) {
		a, err := c.next(ctx, stream)
		if err != nil {
			return a, err
		}
		a.Step = name
		return a, json.NewEncoder(os.Stdout).Encode(a)
	}
	if !tools {
		c.say(t.Prompt)
		_, err := turn(step)
		return err
	}
	c.say(t.ToolPrompt)
	a, err := turn(step)
	if err != nil {
		return err
	}
	c.result(a.callID, t.ToolResult)
	_, err = turn(step + " result")
	return err
}
