package main

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

type anthropicChat struct {
	client anthropic.Client
	params anthropic.MessageNewParams
}

func newAnthropic(url string, t task, tools bool) chat {
	c := &anthropicChat{
		client: anthropic.NewClient(option.WithBaseURL(url), option.WithAPIKey(key), option.WithMaxRetries(0)),
		params: anthropic.MessageNewParams{Model: t.Model, MaxTokens: 1000},
	}
	if tools {
		offer := anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: t.Tool.Properties, Required: t.Tool.Required}, t.Tool.Name)
		offer.OfTool.Description = anthropic.String(t.Tool.Description)
		c.params.Tools = []anthropic.ToolUnionParam{offer}
	}
	return c
}

func (c *anthropicChat) say(prompt string) {
	c.params.Messages = append(c.params.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock(prompt)))
}

func (c *anthropicChat) result(callID, text string) {
	c.params.Messages = append(c.params.Messages, anthropic.NewUserMessage(anthropic.NewToolResultBlock(callID, text, false)))
}

func (c *anthropicChat) next(ctx context.Context, stream bool) (answer, error) {
	ask := c.whole
	if stream {
		ask = c.stream
	}
	message, err := ask(ctx)
	if err != nil {
		return answer{}, err
	}
	c.params.Messages = append(c.params.Messages, message.ToParam())
	a := answer{Finish: string(message.StopReason), Input: message.Usage.InputTokens, Output: message.Usage.OutputTokens}
	for _, block := range message.Content {
		switch block := block.AsAny().(type) {
		case anthropic.TextBlock:
			a.Text += block.Text
		case anthropic.ToolUseBlock:
			a.callID, a.Tool, a.Arguments = block.ID, a.Tool+block.Name, a.Arguments+string(block.Input)
		}
	}
	return a, nil
}

func (c *anthropicChat) whole(ctx context.Context) (*anthropic.Message, error) {
	return c.client.Messages.New(ctx, c.params)
}

func (c *anthropicChat) stream(ctx context.Context) (*anthropic.Message, error) {
	s := c.client.Messages.NewStreaming(ctx, c.params)
	defer s.Close()
	var all anthropic.Message
	for s.Next() {
		if err := all.Accumulate(s.Current()); err != nil {
			return nil, err
		}
	}
	return &all, s.Err()
}
