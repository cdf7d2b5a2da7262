import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Conversation } from './conversation.ts';
import type { Body, Reply } from './dialect.ts';
import { createGates, type Gates } from './gates.ts';
import { objectOf } from './json.ts';
import type { Script } from './script.ts';

/** A model that follows a script, listening on 127.0.0.1. */
export interface ScriptedModel {
  readonly url: string;
  readonly conversation: Conversation;
  close(): Promise<void>;
}

/** Starts a model at a free port. Models that share `gates` can make their sessions take turns. */
export async function startModel(script: Script, gates: Gates = createGates()): Promise<ScriptedModel> {
  const conversation = new Conversation(script, gates);
  const server = createServer((request, response) => {
    serve(conversation, request, response).catch((problem: unknown) => {
      conversation.problems.push(String(problem));
      response.destroy();
    });
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}`, conversation, close: () => close(server) };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Ends the connections that a killed client left open, rather than wait for them. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function serve(model: Conversation, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const body: Body = text === '' ? {} : objectOf(JSON.parse(text) as unknown);
  const path = new URL(request.url ?? '/', 'http://127.0.0.1').pathname;
  send(response, await model.reply(request.method ?? '', path, body));
}

function send(response: ServerResponse, answer: Reply | number): void {
  if (typeof answer === 'number') {
    const error = { type: 'api_error', message: 'the scripted model refuses this request' };
    response.writeHead(answer, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ type: 'error', error }));
    return;
  }
  if (answer.kind === 'json') {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer.value));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const { name, data } of answer.events) {
    if (name !== undefined) response.write(`event: ${name}\n`);
    response.write(`data: ${JSON.stringify(data)}\n\n`);
  }
  response.end();
}
