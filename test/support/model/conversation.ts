import { setTimeout as sleep } from 'node:timers/promises';
import { anthropic } from './anthropic.ts';
import { completions } from './completions.ts';
import type { Body, ModelDialect, Reply, ToolResult } from './dialect.ts';
import type { Gates } from './gates.ts';
import { gemini } from './gemini.ts';
import { smallestValue } from './json.ts';
import { responses } from './responses.ts';
import { fillIn, type Script, type Turn } from './script.ts';

const DIALECTS: readonly ModelDialect[] = [anthropic, responses, completions, gemini];

/** One request as it came in; `turn` is the answer, if the request belongs to the conversation. */
export interface ModelRequest {
  readonly method: string;
  readonly path: string;
  readonly body: Body;
  readonly dialect?: ModelDialect;
  readonly turn?: Turn;
}

/** A script that is being played: what came in, what went out, what went wrong. */
export class Conversation {
  readonly requests: ModelRequest[] = [];
  /** What went wrong in the script itself: a gate that stayed shut, a placeholder without a match. */
  readonly problems: string[] = [];
  readonly #script: Script;
  readonly #gates: Gates;
  readonly #used = new Map<readonly Turn[], number>();

  constructor(script: Script, gates: Gates) {
    this.#script = script;
    this.#gates = gates;
  }

  /**
   * Answers one request: the conversation gets the next turn, a side request gets the smallest answer that
   * fits, and anything else gets an HTTP status.
   */
  async reply(method: string, path: string, body: Body): Promise<Reply | number> {
    const dialect = DIALECTS.find((candidate) => candidate.asks(path) !== undefined);
    if (method !== 'POST' || dialect === undefined) {
      this.requests.push({ method, path, body });
      return 404;
    }
    if (dialect.asks(path) === 'count' || !dialect.isTurn(body)) {
      this.requests.push({ method, path, body, dialect });
      return sideReply(dialect, path, body);
    }
    const turn = this.#nextTurn(dialect, body);
    this.requests.push({ method, path, body, dialect, turn });
    this.#script.hears?.(dialect.toolNames(body));
    await this.#pace(turn);
    return turn.error ?? dialect.answer(turn, body, path);
  }

  /** How many turns of the main conversation were asked for. */
  turnsUsed(): number {
    return this.#used.get(this.#script.turns) ?? 0;
  }

  /** Every tool result that reached the model, once each, in order. */
  toolResults(): ToolResult[] {
    const all = this.#asked().flatMap(({ dialect, body }) => dialect?.toolResults(body) ?? []);
    return [...new Map(all.map((result) => [result.id, result])).values()];
  }

  /** What the model was told before each turn, by the person and by hooks: one list per turn. */
  userTexts(): string[][] {
    return this.#asked().map(({ dialect, body }) => dialect?.userTexts(body) ?? []);
  }

  #asked(): ModelRequest[] {
    return this.requests.filter(({ turn }) => turn !== undefined);
  }

  #nextTurn(dialect: ModelDialect, body: Body): Turn {
    const asked = dialect.firstUserText(body);
    const agent = this.#script.agents?.find(({ match }) => asked.includes(match));
    const turns = agent?.turns ?? this.#script.turns;
    const index = this.#used.get(turns) ?? 0;
    this.#used.set(turns, index + 1);
    const turn = turns[index] ?? { text: '(the script is over)' };
    try {
      return fillIn(turn, dialect.toolResults(body).at(-1)?.output ?? '');
    } catch (problem) {
      this.problems.push(String(problem));
      return { ...turn, tools: [], text: '(the script could not go on)' };
    }
  }

  async #pace(turn: Turn): Promise<void> {
    if (turn.opens !== undefined) this.#gates.open(turn.opens);
    if (turn.waitsFor !== undefined && !(await this.#gates.wait(turn.waitsFor))) {
      this.problems.push(`the gate "${turn.waitsFor}" stayed shut`);
    }
    if (turn.delay !== undefined) await sleep(turn.delay);
  }
}

function sideReply(dialect: ModelDialect, path: string, body: Body): Reply {
  if (dialect.asks(path) === 'count') return { kind: 'json', value: dialect.count() };
  const schema = dialect.wantedSchema(body);
  const text = schema === undefined ? 'ok' : JSON.stringify(smallestValue(schema));
  return dialect.answer({ text }, body, path);
}
