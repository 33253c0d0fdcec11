// Probe talks to a gateway through the official JavaScript SDKs and prints what
// they understood. Usage, task and output are those of ../gosdk.
//
//   node probe.mjs BASE_URL openai|responses|anthropic < task.json

import { text } from 'node:stream/consumers';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

const key = 'canary-of-the-client';
const limits = { maxRetries: 0, timeout: 60_000 };

class OpenAIChat {
  constructor(url, task, tools) {
    this.client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, ...limits });
    this.params = { model: task.model, messages: [] };
    if (tools) {
      const { name, description, properties, required } = task.tool;
      const parameters = { type: 'object', properties, required };
      this.params.tools = [{ type: 'function', function: { name, description, parameters } }];
    }
  }

  say(content) {
    this.params.messages.push({ role: 'user', content });
  }

  result(tool_call_id, content) {
    this.params.messages.push({ role: 'tool', tool_call_id, content });
  }

  async next(stream) {
    const completion = stream ? await this.stream() : await this.client.chat.completions.create(this.params);
    const [{ message, finish_reason: finish }] = completion.choices;
    this.params.messages.push(message);
    const calls = message.tool_calls ?? [];
    return {
      text: message.content ?? '',
      tool: calls.map((c) => c.function.name).join(''),
      arguments: calls.map((c) => c.function.arguments).join(''),
      finish,
      input: completion.usage?.prompt_tokens ?? 0,
      output: completion.usage?.completion_tokens ?? 0,
      callID: calls.at(-1)?.id,
    };
  }

  stream() {
    const usage = this.params.tools ? { stream_options: { include_usage: true } } : {};
    return this.client.chat.completions.stream({ ...this.params, ...usage }).finalChatCompletion();
  }
}

class AnthropicChat {
  constructor(url, task, tools) {
    this.client = new Anthropic({ baseURL: url, apiKey: key, ...limits });
    this.params = { model: task.model, max_tokens: 1000, messages: [] };
    if (tools) {
      const { name, description, properties, required } = task.tool;
      this.params.tools = [{ name, description, input_schema: { type: 'object', properties, required } }];
    }
  }

  say(content) {
    this.params.messages.push({ role: 'user', content });
  }

  result(tool_use_id, content) {
    this.params.messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id, content }] });
  }

  async next(stream) {
    const message = stream
      ? await this.client.messages.stream(this.params).finalMessage()
      : await this.client.messages.create(this.params);
    this.params.messages.push({ role: message.role, content: message.content });
    const calls = message.content.filter((b) => b.type === 'tool_use');
    return {
      text: message.content.map((b) => b.text ?? '').join(''),
      tool: calls.map((c) => c.name).join(''),
      arguments: calls.map((c) => JSON.stringify(c.input)).join(''),
      finish: message.stop_reason,
      input: message.usage.input_tokens,
      output: message.usage.output_tokens,
      callID: calls.at(-1)?.id,
    };
  }
}

class OpenAIResponses {
  constructor(url, task, tools) {
    this.client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, ...limits });
    this.params = { model: task.model, store: false, input: [] };
    if (tools) {
      const { name, description, properties, required } = task.tool;
      const parameters = { type: 'object', properties, required };
      this.params.tools = [{ type: 'function', name, description, parameters, strict: false }];
    }
  }

  say(content) {
    this.params.input.push({ role: 'user', content });
  }

  result(call_id, output) {
    this.params.input.push({ type: 'function_call_output', call_id, output });
  }

  async next(stream) {
    const response = stream ? await this.stream() : await this.client.responses.create(this.params);
    this.params.input.push(...response.output);
    const calls = response.output.filter((item) => item.type === 'function_call');
    return {
      text: response.output_text,
      tool: calls.map((c) => c.name).join(''),
      arguments: calls.map((c) => c.arguments).join(''),
      finish: response.status,
      input: response.usage.input_tokens,
      output: response.usage.output_tokens,
      callID: calls.at(-1)?.call_id,
    };
  }

  stream() {
    // Of an answer that failed the SDK's own error says no more than that.
    const failed = ({ response }) => console.error(response.error.message);
    return this.client.responses.stream(this.params).on('response.failed', failed).finalResponse();
  }
}

async function converse(chat, task, step, tools) {
  const turn = async (name) => {
    const { callID, ...answer } = await chat.next(step.endsWith('stream'));
    console.log(JSON.stringify({ step: name, ...answer }));
    return callID;
  };
  if (!tools) {
    chat.say(task.prompt);
    await turn(step);
    return;
  }
  chat.say(task.tool_prompt);
  chat.result(await turn(step), task.tool_result);
  await turn(`${step} result`);
}

const [url, sdk] = process.argv.slice(2);
const Chat = { openai: OpenAIChat, responses: OpenAIResponses, anthropic: AnthropicChat }[sdk];
if (!Chat) throw new Error(`unknown SDK "${sdk}"`);
const task = JSON.parse(await text(process.stdin));
for (const step of task.steps) {
  const tools = step.startsWith('tool');
  await converse(new Chat(url, task, tools), task, step, tools);
}
