package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

type openaiChat struct {
	client openai.Client
	params openai.ChatCompletionNewParams
}

func newOpenAI(url string, t task, tools bool) chat {
	c := &openaiChat{
		client: openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0)),
		params: openai.ChatCompletionNewParams{Model: t.Model},
	}
	if tools {
		c.params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: t.Tool.Name, Description: openai.String(t.Tool.Description),
			Parameters: openai.FunctionParameters{"type": "object", "properties": t.Tool.Properties, "required": t.Tool.Required},
		})}
	}
	return c
}

func (c *openaiChat) say(prompt string) {
	c.params.Messages = append(c.params.Messages, openai.UserMessage(prompt))
}

func (c *openaiChat) result(callID, text string) {
	c.params.Messages = append(c.params.Messages, openai.ToolMessage(text, callID))
}

func (c *openaiChat) next(ctx context.Context, stream bool) (answer, error) {
	ask := c.whole
	if stream {
		ask = c.stream
	}
	completion, err := ask(ctx)
	if err != nil {
		return answer{}, err
	}
	if len(completion.Choices) != 1 {
		return answer{}, fmt.Errorf("%d choices, want 1", len(completion.Choices))
	}
	choice := completion.Choices[0]
	c.params.Messages = append(c.params.Messages, choice.Message.ToParam())
	a := answer{
		Text: choice.Message.Content, Finish: choice.FinishReason,
		Input: completion.Usage.PromptTokens, Output: completion.Usage.CompletionTokens,
	}
	for _, call := range choice.Message.ToolCalls {
		a.callID, a.Tool, a.Arguments = call.ID, a.Tool+call.Function.Name, a.Arguments+call.Function.Arguments
	}
	return a, nil
}

func (c *openaiChat) whole(ctx context.Context) (*openai.ChatCompletion, error) {
	return c.client.Chat.Completions.New(ctx, c.params)
}

func (c *openaiChat) stream(ctx context.Context) (*openai.ChatCompletion, error) {
	params := c.params
	if params.Tools != nil {
		params.StreamOptions.IncludeUsage = openai.Bool(true)
	}
	s := c.client.Chat.Completions.NewStreaming(ctx, params)
	defer s.Close()
	var all openai.ChatCompletionAccumulator
	for s.Next() {
		if !all.AddChunk(s.Current()) {
			return nil, errors.New("a chunk does not fit the ones before it")
		}
	}
	return &all.ChatCompletion, s.Err()
}
