import type { BootShape } from '../../src/verbs/shapes.ts';
import { type RepositoryOptions, type RunOptions, TestRepository } from './repository.ts';

/** The session that leaves notes, and one that continues from them. */
export const WRITER = 'aaaaaaaa-1111';
export const READER = 'bbbbbbbb-2222';

export const NOTE = [
  '# Goal',
  'Log people in.',
  '# Next action',
  'Run the tests.',
  '# Stop conditions',
  'The tests are red.',
].join('\n');

export interface Booted {
  readonly status: number | null;
  readonly stale: boolean;
  /** Codes of all findings about branch and HEAD, and of other findings that are not `ok` or `tests-none`. */
  readonly codes: readonly string[];
  readonly value: BootShape;
  /** The sentence of the finding with this code. */
  text(code: string): string;
}

/** A repository whose branch `feature` has two commits, and in which sessions leave notes and boot from them. */
export class BootWorld extends TestRepository {
  constructor(options: RepositoryOptions = {}) {
    super(options, 'boot');
    this.build(() => {
      this.commit('base', { 'src/a.ts': 'export const a = 1;\n'.repeat(20), 'src/b.ts': 'b\n' });
      this.git(['switch', '-q', '-c', 'feature']);
      this.commit('one', { 'one.txt': '1\n' });
      this.commit('two', { 'two.txt': '2\n' });
    });
  }

  /** Leaves a note that lists these important files. */
  leave(topic: string, files: readonly string[] = [], options: RunOptions & { note?: string } = {}): string {
    const list = files.map((name) => `- \`${name}\`\n`).join('');
    const input = options.note ?? `${NOTE}\n# Important files\n${list}`;
    return this.noted(['write', topic], { session: WRITER, ...options, input });
  }

  /** Runs `boot --json`, which must not change a ref. */
  boot(topic?: string, options: RunOptions = {}): Booted {
    const refs = this.git(['for-each-ref'], options);
    const words = ['boot', ...(topic === undefined ? [] : [topic]), '--json'];
    const { status, stdout, stderr } = this.handoff(words, { session: READER, ...options });
    if (this.git(['for-each-ref'], options) !== refs) throw new Error('boot changed a ref');
    const value = JSON.parse(stdout) as BootShape & { ok: boolean };
    if (!value.ok) throw new Error(`${stdout}${stderr}`);
    if ((status === 1) !== value.stale) throw new Error(`exit ${status}, stale ${value.stale}`);
    const { findings } = value;
    const shown = findings.filter(
      ({ verdict, axis, code }) =>
        (verdict !== 'ok' && code !== 'tests-none') || axis === 'branch' || axis === 'head',
    );
    const text = (code: string) => findings.find((one) => one.code === code)?.text ?? '';
    return { status, stale: value.stale, codes: shown.map(({ code }) => code), value, text };
  }
}
