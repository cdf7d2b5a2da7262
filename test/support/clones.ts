import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename, dirname, join } from 'node:path';
import {
  type Json,
  type RepositoryOptions,
  type Run,
  type RunOptions,
  TestRepository,
} from './repository.ts';

/** How clones reach the server: the three ways that git itself treats differently. */
export const TRANSPORTS = ['path', 'daemon', 'http'] as const;
export type Transport = (typeof TRANSPORTS)[number];

const SERVER_PROGRAM = join(import.meta.dirname, 'git-server.mjs');

/** Serves the repositories in a folder on 127.0.0.1. The returned `url` lacks the repository's name. */
export async function serveGit(
  transport: Exclude<Transport, 'path'>,
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const words = [SERVER_PROGRAM, transport, folder];
  const child = spawn(process.execPath, words, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  const stop = async () => {
    if (child.exitCode !== null) return;
    child.stdin.end();
    await once(child, 'exit');
  };
  return { url: `${transport === 'daemon' ? 'git' : 'http'}://127.0.0.1:${port.toString().trim()}`, stop };
}

/** A bare repository on a machine of its own, and the process that serves it. */
export class GitServer extends TestRepository {
  readonly transport: Transport;
  #served: Awaited<ReturnType<typeof serveGit>> | undefined;

  constructor(transport: Transport, options: RepositoryOptions = {}) {
    super({ person: 'Server', folder: 'server.git', ...options, bare: true });
    this.transport = transport;
    this.git(['config', 'uploadpack.allowFilter', 'true']);
  }

  /** Begins to serve, on another port each time. */
  async serve(): Promise<this> {
    if (this.transport !== 'path')
      this.#served = await serveGit(this.transport, dirname(this.path), this.env());
    return this;
  }

  /** Stops serving, until `serve`. */
  async stop(): Promise<void> {
    await this.#served?.stop();
  }

  get url(): string {
    return this.transport === 'path' ? this.path : `${this.#served?.url ?? ''}/${basename(this.path)}`;
  }

  /** Every handoff that the server shows. */
  handoffs(): Map<string, string> {
    return refValues(this, 'refs/handoffs');
  }
}

/** One handoff in the output of `list`. */
export interface Listed {
  readonly branch: unknown;
  readonly topic: unknown;
  readonly oid: unknown;
  readonly owner: unknown;
  readonly state: unknown;
}

const place = ({ branch, topic }: Listed) => `${String(branch)} ${String(topic)}`;

/** One machine, with its own home, settings, identity and session. */
export class Clone extends TestRepository {
  readonly session: string;

  constructor(url: string, person: string, options: RepositoryOptions & { readonly words?: string[] } = {}) {
    const { words = [], ...rest } = options;
    super({ folder: 'clone', ...rest, person, cloneOf: { url, words } });
    this.session = `sess-${person.toLowerCase()}-1`;
  }

  /** Writes a note as this machine's session; it must succeed. Returns the commit. */
  write(topic: string, text: string, words: readonly string[] = []): string {
    return this.noted(['write', topic, ...words], { session: this.session, input: text });
  }

  /** Runs a verb as this machine's session, whether or not it succeeds. */
  as(args: readonly string[], options: RunOptions = {}): Run {
    return this.handoff(args, { session: this.session, ...options });
  }

  /** Runs `sync`, which must succeed; returns all its output. */
  sync(...words: string[]): string {
    const done = this.as(['sync', ...words]);
    if (done.status !== 0) throw new Error(`sync: exit ${done.status}\n${done.stdout}${done.stderr}`);
    return done.stdout + done.stderr;
  }

  /** What was done with each handoff, as `<action> <topic>`, in the order of the output. */
  actions(json: Json): string[] {
    return json.items.map(({ action, topic, ref }) => `${String(action)} ${String(topic ?? ref)}`);
  }

  /** `sync --json` as this machine's session. */
  syncJson(...words: string[]): Json {
    return this.json(['sync', ...words], { session: this.session });
  }

  note(topic: string): string {
    return this.handoff(['show', topic, '--raw']).stdout;
  }

  list(): Listed[] {
    const { items } = this.json(['list', '--all']);
    return items
      .map(({ branch, topic, oid, owner, state }) => ({ branch, topic, oid, owner, state }))
      .sort((one, other) => (place(one) < place(other) ? -1 : 1));
  }

  handoffs(): Map<string, string> {
    return refValues(this, 'refs/handoffs');
  }
}

/** A server and its clones. */
export class Clones {
  readonly server: GitServer;
  readonly #machines: TestRepository[] = [];

  private constructor(server: GitServer) {
    this.server = server;
  }

  /** Starts the server; clones are made by `clone`. */
  static async start(transport: Transport = 'path', options: RepositoryOptions = {}): Promise<Clones> {
    return new Clones(await new GitServer(transport, options).serve());
  }

  clone(person: string, options: RepositoryOptions & { readonly words?: string[] } = {}): Clone {
    const clone = new Clone(this.server.url, person, options);
    this.#machines.push(clone);
    return clone;
  }

  /** The paths of all repositories, for somebody who examines a failed test. */
  get paths(): string[] {
    return [this.server, ...this.#machines].map(({ path }) => path);
  }

  async remove(): Promise<void> {
    await this.server.stop();
    for (const machine of [this.server, ...this.#machines]) machine.remove();
  }
}

/** Names and values of the refs under a prefix. */
export function refValues(repository: TestRepository, prefix: string): Map<string, string> {
  const output = repository.git(['for-each-ref', '--format=%(refname) %(objectname)', prefix]);
  return new Map(
    output
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' ') as [string, string]),
  );
}
