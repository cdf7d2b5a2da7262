import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestRepository } from '../support/repository.ts';

const [A, B] = ['aaaaaaaa-1111', 'bbbbbbbb-2222'];
const REF = 'refs/handoffs/main/auth-refresh';
let repo: TestRepository;

function begin(): void {
  repo = new TestRepository();
  repo.ok(['write', 'auth-refresh', '-m', 'first'], { session: A });
  repo.ok(['take', 'auth-refresh'], { session: B });
  repo.ok(['write', 'auth-refresh', '-m', 'second'], { session: B });
}
afterEach(() => repo.remove());

const found = (check: string) => repo.json(['doctor']).items.filter((item) => item['check'] === check);
const details = (check: string) => found(check).map((item) => String(item['detail']));
const oid = (name: string) => repo.git(['rev-parse', name]);
const file = (name: string) => {
  const id = oid(name);
  return join(repo.path, '.git', 'objects', id.slice(0, 2), id.slice(2));
};

function replace(path: string, bytes: Uint8Array): void {
  chmodSync(path, 0o644);
  writeFileSync(path, bytes);
}

/** An object that git reads without complaint: undamaged, but not what its name says. */
const disguised = (type: string, content: string) =>
  deflateSync(Buffer.from(`${type} ${Buffer.byteLength(content)}\0${content}`));

describe('doctor reports whether every handoff can be read', () => {
  beforeEach(() => begin());

  it('all can if nothing is wrong', () => {
    expect(details('objects')).toEqual(['3 commits of handoffs, all readable']);
    expect(repo.handoff(['doctor']).status).toBe(0);
  });

  it.each([
    ['the note', `${REF}:handoff.md`, 'the handoff.md of commit'],
    ['the state', `${REF}~1:state.json`, 'the state.json of commit'],
    ['the tree', `${REF}^{tree}`, 'the tree of commit'],
    ['the commit', REF, 'commit'],
    ['a former commit', `${REF}~2`, 'commit'],
  ])('or %s is named that is missing, torn or another', (_what, name, words) => {
    const [path, id] = [file(name), oid(name)];
    const whole = readFileSync(path);
    for (const damage of [
      () => rmSync(path),
      () => replace(path, whole.subarray(0, whole.length - 4)),
      () => replace(path, disguised('blob', 'something else')),
    ]) {
      damage();
      const { status, stdout } = repo.handoff(['doctor']);
      expect(status, stdout).toBe(1);
      const told = stdout.split('\n').filter((line) => /^problem +objects/.test(line));
      expect(told.length, stdout).toBeGreaterThan(0);
      expect(told[0]).toContain(`main/auth-refresh: ${words}`);
      expect(told[0]).toContain(id);
      replaceWith(path, whole);
    }
    expect(repo.handoff(['doctor']).status).toBe(0);
  });

  function replaceWith(path: string, bytes: Buffer): void {
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { force: true });
    writeFileSync(path, bytes);
  }

  it('one that cannot be read counts neither as moved by hand nor as put back', () => {
    const [path, id] = [file(REF), oid(REF)];
    rmSync(path);
    for (const words of [['doctor'], ['doctor', '--fix']]) {
      expect(repo.handoff(words).stdout).not.toMatch(/moved by hand \(|put back/);
    }
    const listed = repo.handoff(['list']);
    expect(listed.stderr).toContain(`${REF}: its last commit ${id.slice(0, 8)} cannot be read`);
    expect(listed.stderr).not.toContain('--fix');
  });

  it('the oldest broken one of many versions is named', () => {
    const VERSIONS = 200;
    const message = repo.git(['log', '-1', '--format=%B', REF]);
    const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
    const commits = Array.from({ length: VERSIONS }, (_, n) =>
      [
        `commit ${REF}\nmark :${n + 1}\ncommitter B <b@example.com> ${1_700_000_000 + n} +0000\n`,
        data(message),
        `from ${n === 0 ? oid(REF) : `:${n}`}\n`,
        `M 100644 inline handoff.md\n${data(`version ${n}\n`)}\n`,
      ].join(''),
    );
    const kept = `reset ${REF.replace('handoffs', 'handoffs-local/kept')}\nfrom :${VERSIONS}\n\n`;
    repo.git(['fast-import', '--quiet'], { input: commits.join('') + kept });
    expect(details('objects')).toEqual([`${VERSIONS + 3} commits of handoffs, all readable`]);
    const note = `${REF}~${VERSIONS + 2}:handoff.md`;
    const blob = oid(note);
    rmSync(file(note));
    expect(details('objects')).toEqual([expect.stringContaining(`(${blob}) is missing or unreadable`)]);
  });

  it('only some of many broken ones are listed', () => {
    for (let n = 0; n < 22; n++) repo.ok(['write', `broken-${n}`, '-m', `note ${n}`], { session: A });
    for (let n = 0; n < 22; n++) rmSync(file(`refs/handoffs/main/broken-${n}:handoff.md`));
    expect(details('objects')).toHaveLength(21);
    expect(details('objects').at(-1)).toBe('and 2 more');
  });
});
