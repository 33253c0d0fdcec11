package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

type responsesChat struct {
	client openai.Client
	params responses.ResponseNewParams
	input  responses.ResponseInputParam
}

func newResponses(url string, t task, tools bool) chat {
	c := &responsesChat{
		client: openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0)),
		params: responses.ResponseNewParams{Model: t.Model, Store: openai.Bool(false)},
	}
	if tools {
		c.params.Tools = []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{
			Name: t.Tool.Name, Description: openai.String(t.Tool.Description), Strict: openai.Bool(false),
			Parameters: map[string]any{"type": "object", "properties": t.Tool.Properties, "required": t.Tool.Required},
		}}}
	}
	return c
}

func (c *responsesChat) say(prompt string) {
	c.input = append(c.input, responses.ResponseInputItemParamOfMessage(prompt, responses.EasyInputMessageRoleUser))
}

func (c *responsesChat) result(callID, text string) {
	c.input = append(c.input, responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{
		CallID: openai.String(callID), Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: openai.String(text)},
	}})
}

func (c *responsesChat) next(ctx context.Context, stream bool) (answer, error) {
	c.params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: c.input}
	ask := c.whole
	if stream {
		ask = c.stream
	}
	response, err := ask(ctx)
	if err != nil {
		return answer{}, err
	}
	a := answer{
		Text: response.OutputText(), Finish: string(response.Status),
		Input: response.Usage.InputTokens, Output: response.Usage.OutputTokens,
	}
	for _, item := range response.Output {
		switch item := item.AsAny().(type) {
		case responses.ResponseOutputMessage:
			said := item.ToParam()
			c.input = append(c.input, responses.ResponseInputItemUnionParam{OfOutputMessage: &said})
		case responses.ResponseFunctionToolCall:
			a.callID, a.Tool, a.Arguments = item.CallID, a.Tool+item.Name, a.Arguments+item.Arguments
			called := item.ToParam()
			c.input = append(c.input, responses.ResponseInputItemUnionParam{OfFunctionCall: &called})
		}
	}
	return a, nil
}

func (c *responsesChat) whole(ctx context.Context) (*responses.Response, error) {
	return c.client.Responses.New(ctx, c.params)
}

func (c *responsesChat) stream(ctx context.Context) (*responses.Response, error) {
	s := c.client.Responses.NewStreaming(ctx, c.params)
	defer s.Close()
	var last responses.ResponseStreamEventUnion
	for s.Next() {
		last = s.Current()
	}
	// After a failed answer the connection is lost, which says less.
	if last.Type == "response.failed" {
		return nil, errors.New(last.Response.Error.Message)
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	if last.Type != "response.completed" {
		return nil, fmt.Errorf("the last event is %q", last.Type)
	}
	return &last.Response, nil
}
