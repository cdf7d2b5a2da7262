import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { serveGit } from './clones.ts';
import { Forger, type Forgery } from './forger.ts';
import { type RepositoryOptions, type Run, type RunOptions, TestRepository } from './repository.ts';

const HOOKS = resolve(import.meta.dirname, '..', '..', 'git-hooks');

export const A = 'aaaaaaaa-1111-4111-8111-111111111111';
export const B = 'bbbbbbbb-2222-4222-8222-222222222222';

/** A pusher without our hooks, and a bare repository on a server with our hook. */
export class ServerWorld extends TestRepository {
  readonly server: string;

  constructor(hook: 'server-pre-receive' | 'server-update' | undefined, options: RepositoryOptions = {}) {
    super(options);
    this.server = join(this.root, 'srv', 'team.git');
    mkdirSync(join(this.root, 'srv'));
    const { objectFormat } = options;
    const format = objectFormat === undefined ? [] : [`--object-format=${objectFormat}`];
    this.git(['init', '-q', '--bare', '--initial-branch=main', ...format, this.server], { cwd: this.root });
    if (hook !== undefined) this.install(hook);
    this.git(['remote', 'add', 'origin', this.server]);
  }

  install(hook: 'server-pre-receive' | 'server-update', by: 'link' | 'copy' = 'link'): void {
    const path = join(this.server, 'hooks', hook.replace('server-', ''));
    rmSync(path, { force: true });
    if (by === 'link') symlinkSync(join(HOOKS, hook), path);
    else cpSync(join(HOOKS, hook), path);
  }

  /** Pushes without the client-side hooks. */
  push(
    refspecs: readonly string[],
    options: RunOptions & { to?: string; flags?: readonly string[] } = {},
  ): Run {
    const { to = 'origin', flags = [], ...rest } = options;
    return this.run('git', ['push', '-q', '--no-verify', ...flags, to, ...refspecs], rest);
  }

  /** The value of a ref on the server. */
  there(ref: string): string | undefined {
    const run = this.run('git', ['rev-parse', '-q', '--verify', ref], { cwd: this.server });
    return run.status === 0 ? run.stdout.trim() : undefined;
  }

  /** Makes a handoff commit by hand, valid unless a field makes it invalid. Parents may be any revision. */
  handmade({ parents = [], ...made }: Forgery = {}): string {
    const usual = { owner: A, topic: 'auth-refresh', summary: 'by hand', note: 'a note\n' };
    const oids = parents.map((parent) => this.git(['rev-parse', parent]));
    return new Forger(this).commit({ ...usual, ...made, parents: oids });
  }

  /** Serves the folder that holds the server's repository like a service: without a home and an identity. */
  async serve(transport: 'daemon' | 'http'): Promise<{ url: string; stop: () => Promise<void> }> {
    const env = { PATH: this.env()['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_COUNT: '1' };
    const safe = { GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' };
    const { url, stop } = await serveGit(transport, dirname(this.server), { ...env, ...safe });
    return { url: `${url}/${basename(this.server)}`, stop };
  }
}

/** The output of the server's hook, without git's `remote: ` and trailing blanks. */
export function remoteLines({ stderr }: Run): string[] {
  return stderr.split('\n').flatMap((line) => (line.startsWith('remote: ') ? [line.slice(8).trimEnd()] : []));
}
