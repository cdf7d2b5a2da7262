import fs from 'node:fs';
import git from 'isomorphic-git';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestRepository } from '../support/repository.ts';

/**
 * A second implementation of git reads what our program wrote. This shows that objects are named, stored and linked as git's
 * format requires, and not only so that git accepts them. The repositories use the files backend.
 */
const [A, B] = ['aaaaaaaa-1111', 'bbbbbbbb-2222'];
const NOTES: readonly [topic: string, note: Buffer][] = [
  ['plain-text', Buffer.from('# Goal\n\nShip it\n')],
  ['no-newline', Buffer.from('no line feed at the end')],
  ['any-bytes', Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 13) % 256))],
  ['large-note', Buffer.alloc(1024 * 1000, 'abcdefghij\n')],
  ['odd-text', Buffer.from('naïve 漢字 😀 \u202e\r\n\0 Claude-Session-Id: x\n')],
];
let repo: TestRepository;
let where: { fs: typeof fs; dir: string };

beforeAll(() => {
  repo = new TestRepository();
  where = { fs, dir: repo.path };
  for (const [topic, note] of NOTES) {
    repo.ok(['write', topic], { session: A, input: note });
    repo.ok(['take', topic], { session: B });
    repo.ok(['write', topic], { session: B, input: Buffer.concat([note, Buffer.from('\nmore')]) });
  }
});
afterAll(() => repo.remove());

describe.each(['as written', 'after gc'])('isomorphic-git, %s', (when) => {
  beforeAll(() => {
    if (when === 'after gc') repo.git(['gc', '-q']);
  });

  it('lists the refs that git lists', async () => {
    for (const prefix of ['refs/handoffs', 'refs/handoffs-local/kept']) {
      // Of packed refs, isomorphic-git also lists `refs/handoffs-local/…` below `refs/handoffs`, with their full names.
      const below = (await git.listRefs({ ...where, filepath: prefix })).filter(
        (name) => !name.startsWith('refs/'),
      );
      const names = below.map((name) => `${prefix}/${name}`);
      expect(names.sort()).toEqual(repo.refs(prefix));
    }
  });

  it.each(NOTES)('reads the whole chain of %s', async (topic, note) => {
    const ref = `refs/handoffs/main/${topic}`;
    const tip = await git.resolveRef({ ...where, ref });
    expect(tip).toBe(repo.ref(ref));
    const chain = await git.log({ ...where, ref });
    expect(chain.map(({ oid }) => oid)).toEqual(repo.git(['rev-list', ref]).split('\n'));
    expect(chain.map(({ commit }) => /^Claude-Session-Id: (.*)$/m.exec(commit.message)?.[1])).toEqual([
      B,
      B,
      A,
    ]);
    expect(chain[1]!.commit.message).toContain(`Handoff-Taken-From: ${A}\n`);
    for (const [at, expected] of [Buffer.concat([note, Buffer.from('\nmore')]), note, note].entries()) {
      const { oid, commit } = chain[at]!;
      expect(commit.message.trimEnd()).toBe(repo.git(['log', '-1', '--format=%B', oid]).trimEnd());
      const { tree } = await git.readTree({ ...where, oid });
      expect(tree.map(({ path, mode, type }) => `${mode} ${type} ${path}`)).toEqual([
        '100644 blob handoff.md',
        '100644 blob state.json',
      ]);
      const { blob } = await git.readBlob({ ...where, oid, filepath: 'handoff.md' });
      expect(Buffer.from(blob).equals(expected)).toBe(true);
      expect(repo.run('git', ['cat-file', 'blob', `${oid}:handoff.md`]).bytes.equals(expected)).toBe(true);
    }
  });
});
