import type { TestRepository } from './repository.ts';

/** What a forged handoff commit says; the default is a legal first note of `sess-evil-1`. */
export interface Forgery {
  readonly topic?: string;
  readonly branch?: string;
  readonly owner?: string;
  /** `null`: the tree has no note. */
  readonly note?: string | Uint8Array | null;
  /** The format that `state.json` names. */
  readonly version?: number;
  readonly parents?: readonly string[];
  readonly summary?: string;
  /** Further trailers, `Key: value`. */
  readonly trailers?: readonly string[];
  /** The message as a whole, instead of summary and trailers. */
  readonly message?: string;
  /** The text of `state.json`, instead of one that fits. */
  readonly state?: string;
  /** Input lines of `git mktree`, instead of the two files. */
  readonly tree?: readonly string[];
  /** Header lines after the committer. */
  readonly headers?: readonly string[];
  /** `<seconds> <zone>`. */
  readonly date?: string;
}

/** Writes commits by hand into a repository, as anyone who may write to a server could. */
export class Forger {
  readonly #repository: TestRepository;

  constructor(repository: TestRepository) {
    this.#repository = repository;
  }

  object(type: 'blob' | 'commit' | 'tag' | 'tree', content: string | Uint8Array): string {
    return this.#repository.git(['hash-object', '-w', '--literally', '-t', type, '--stdin'], {
      input: content,
    });
  }

  /** `state.json` as a first note has it. */
  state({ topic = 'evil-topic', branch = 'main', version = 1 }: Forgery): string {
    const rest = { head: null, upstream: null, dirty: 0, client: null, worktree: null };
    return JSON.stringify({ version, branch, topic, ...rest });
  }

  commit(forgery: Forgery = {}): string {
    const { note = 'evil\n', owner = 'sess-evil-1', parents = [], summary = 'evil', trailers = [] } = forgery;
    const entries = forgery.tree ?? [
      ...(note === null ? [] : [`100644 blob ${this.object('blob', note)}\thandoff.md`]),
      `100644 blob ${this.object('blob', forgery.state ?? this.state(forgery))}\tstate.json`,
    ];
    const tree = this.#repository.git(['mktree'], { input: `${entries.join('\n')}\n` });
    const who = `Eve <eve@example.org> ${forgery.date ?? '1767323045 +0000'}`;
    const own = [`Claude-Session-Id: ${owner}`, 'Handoff-State: open', ...trailers];
    const lines = [
      `tree ${tree}`,
      ...parents.map((parent) => `parent ${parent}`),
      `author ${who}`,
      `committer ${who}`,
      ...(forgery.headers ?? []),
      '',
      forgery.message ?? `${summary}\n\n${own.join('\n')}\n`,
    ];
    return this.object('commit', lines.join('\n'));
  }

  /** An annotated tag of any object. */
  tag(oid: string, type = 'commit'): string {
    const who = 'Eve <eve@example.org> 1767323045 +0000';
    return this.object('tag', `object ${oid}\ntype ${type}\ntag evil\ntagger ${who}\n\nevil\n`);
  }

  /** Makes first notes on many topics in one process. Each note contains its number, and each message the padding. */
  plant(topics: readonly string[], padding = ''): void {
    const commits = topics.map((topic, at) => {
      const message = `note ${at}\n\n${padding}Claude-Session-Id: sess-eve-1\nHandoff-State: open\n`;
      const state = this.state({ topic });
      return [
        `commit refs/handoffs/main/${topic}`,
        `committer Eve <eve@example.org> ${1767323045 + at} +0000`,
        `data ${message.length}\n${message}`,
        `M 100644 inline handoff.md\ndata ${`note ${at}`.length}\nnote ${at}`,
        `M 100644 inline state.json\ndata ${state.length}\n${state}`,
      ].join('\n');
    });
    this.#repository.git(['fast-import', '--quiet'], { input: `${commits.join('\n')}\n` });
  }

  point(ref: string, oid: string): void {
    this.#repository.git(['update-ref', ref, oid]);
  }
}
