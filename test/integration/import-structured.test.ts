import { appendFileSync, copyFileSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PredecessorWorld } from '../support/predecessors.ts';

const me = 'cccccccc-3333';
const FIRST = '2026-05-07-alice-bob-retry-policy.md';
const HEAD = '| handoff_id | file | from | to | topic | ts_utc | read_by |\n|---|---|---|---|---|---|---|\n';
let world: PredecessorWorld;
let folder: string;
beforeEach(() => {
  world = new PredecessorWorld().has('structured');
  folder = join(world.path, 'grimoires', 'loa', 'handoffs');
});
afterEach(() => world.remove());

/** By file name, the reason why a file was not imported. */
function reasons(args: string[] = []): Record<string, unknown> {
  const { items } = world.json(['import', ...args], { session: me });
  const left = items.filter(({ action }) => action === 'skip' || action === 'refuse');
  return Object.fromEntries(left.map(({ file, why }) => [String(file).split('/').at(-1) ?? '', why]));
}

describe('a folder of structured handoffs', () => {
  it('is imported with and without its index; `from` becomes the owner, `to` the addressee', () => {
    const { items } = world.json(['import'], { session: me });
    expect(items.map(({ topic, owner, to, state, why }) => [topic, owner, to, state, why])).toEqual([
      ['retry-policy', 'alice', 'bob', 'open', null],
      ['retry-policy-2', 'alice', 'bob', 'open', null],
      ['release-plan', 'bob', 'alice', 'open', 'its topic Release_Plan stays in the front matter'],
      ['deploy-work', 'alice', 'bob', 'open', 'its topic Deploy stays in the front matter'],
    ]);
    expect(world.trailers('main/retry-policy')).toMatchObject({
      'Claude-Session-Id': 'alice',
      'Handoff-To': 'bob',
      'Handoff-Imported-From': `structured:grimoires/loa/handoffs/${FIRST}`,
    });
    const shown = world.handoff(['show', 'retry-policy', '--raw']);
    expect(shown.bytes.equals(readFileSync(join(folder, FIRST)))).toBe(true);
    const before = world.values();
    expect(world.handoff(['import'], { session: me }).stdout).toMatch(/\n0 imported, 4 there already\n$/);
    expect(world.values()).toBe(before);
  });

  it('in another place is found by its INDEX.md, which may be named, too', () => {
    const elsewhere = join(world.root, 'elsewhere');
    world.put(join(elsewhere, FIRST), readFileSync(join(folder, FIRST)));
    world.put(join(elsewhere, 'INDEX.md'), HEAD);
    expect(world.imported([join(elsewhere, 'INDEX.md')], me)).toEqual({
      [FIRST]: 'create main/retry-policy alice open',
    });
    expect(world.imported([elsewhere], me)).toEqual({ [FIRST]: 'unchanged main/retry-policy alice open' });
    expect(world.imported([join(elsewhere, FIRST)], me)).toEqual({
      [FIRST]: 'unchanged main/retry-policy alice open',
    });
  });

  it('imports all but files with a wrong id, with exit status 6', () => {
    appendFileSync(join(folder, FIRST), 'one more line\n');
    const { status, stdout, stderr } = world.handoff(['import'], { session: me });
    expect(status).toBe(6);
    expect(stderr).toMatch(
      /handoff_id mismatch: supplied=sha256:94bdef20\w+ computed=sha256:\w{64}\nhint: git handoff import --from markdown -- \S+retry-policy\.md\n$/,
    );
    expect(stdout).toMatch(/\n3 imported, 1 left out;/);
    expect(world.refs('refs/handoffs/main')).toHaveLength(3);
    expect(world.json(['import'], { session: me })).toMatchObject({
      ok: false,
      error: { code: 'integrity' },
    });
    const [, hint = ''] = /^hint: git handoff (.*)$/m.exec(stderr) ?? [];
    expect(world.handoff(hint.split(' '), { session: me }).status).toBe(0);
  });

  it('is compared with the ids in the index, too', () => {
    const index = readFileSync(join(folder, 'INDEX.md'), 'utf8');
    writeFileSync(join(folder, 'INDEX.md'), index.replace('sha256:94bdef20', 'sha256:00000000'));
    expect(reasons()).toEqual({ [FIRST]: expect.stringMatching(/supplied=sha256:00000000/) as string });
  });

  it('becomes one note for two files with the same id', () => {
    copyFileSync(join(folder, FIRST), join(folder, 'copy.md'));
    expect(reasons()).toEqual({ 'copy.md': `it has the handoff_id of ${FIRST}` });
  });

  it.each(['../../x.md', '/etc/passwd', 'sub/../../../../x.md'])(
    'does not follow its index to %s',
    (file) => {
      appendFileSync(join(folder, 'INDEX.md'), `| sha256:${'0'.repeat(64)} | ${file} | a | b | c | d |  |\n`);
      world.put(join(world.path, 'grimoires', 'x.md'), 'outside\n');
      expect(world.json(['import', '--dry-run'], { session: me }).items).toHaveLength(4);
      world.handoff(['import'], { session: me });
      expect(world.refs('refs/handoffs/')).toHaveLength(4);
    },
  );

  it.each<[string, () => void]>([
    ['a link', () => symlinkSync('/etc/passwd', join(folder, 'INDEX.md'))],
    ['a FIFO', () => void world.run('mkfifo', [join(folder, 'INDEX.md')])],
    ['huge', () => writeFileSync(join(folder, 'INDEX.md'), Buffer.alloc(2 ** 20 + 1, '|'))],
    ['no text', () => writeFileSync(join(folder, 'INDEX.md'), Buffer.from([0x7c, 0xff, 0x00, 0x0a, 0x7c]))],
  ])('is read without its index where that is %s', (_, make) => {
    world.run('rm', [join(folder, 'INDEX.md')]);
    make();
    const { items } = world.json(['import'], { session: me });
    expect(items.map(({ action }) => action)).toEqual(Array(4).fill('create'));
  });

  it('is ignored behind a link', () => {
    renameSync(join(world.path, 'grimoires'), join(world.root, 'outside'));
    symlinkSync(join(world.root, 'outside'), join(world.path, 'grimoires'));
    expect(world.json(['import'], { session: me }).error.code).toBe('not-found');
  });

  it('is imported without files that are no structured handoffs', () => {
    world.put(join(folder, 'README.md'), '# How to\n');
    world.put(join(folder, 'other.md'), '---\ntitle: x\n---\ntext\n');
    world.put(join(folder, 'latin.md'), Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff]));
    world.put(join(folder, 'bomb.md'), `---\na: &a [x]\nb: [${'*a,'.repeat(1000)}]\n---\n`);
    const { status } = world.handoff(['import', '--dry-run'], { session: me });
    expect(status).toBe(0);
    expect(reasons()).toEqual({
      'README.md': 'it has no front matter',
      'other.md': 'its front matter is of another kind',
      'latin.md': 'it is not UTF-8',
      'bomb.md': 'its front matter is of another kind',
    });
  });

  it.each<[string, string, string, RegExp, string]>([
    [
      'a version not quoted',
      "schema_version: '1.0'",
      'schema_version: 1.0',
      /^front matter: schema_version is a number/,
      "schema_version: '1.0'",
    ],
    [
      'a sender with a line feed',
      "from: 'alice'",
      'from: "a\\nHandoff-State: closed"',
      /^front matter: from is "a\\+nHandoff/,
      "from: 'alice'",
    ],
    [
      'a key twice',
      "to: 'bob'",
      "to: 'bob'\nto: 'eve'",
      /^the front matter is not valid: Map keys must be unique/,
      'plain lines like',
    ],
  ])('refuses %s as write does, with exit status 2, and imports the rest', (_, from, to, why, hint) => {
    const text = readFileSync(join(folder, FIRST), 'utf8');
    writeFileSync(join(folder, FIRST), text.replace(from, to));
    const { status, stdout, stderr } = world.handoff(['import'], { session: me });
    expect(status).toBe(2);
    expect(stderr).toContain(`\nhint: ${hint}`);
    expect(stdout).toMatch(/\n3 imported, 1 left out;/);
    expect(reasons()).toEqual({ [FIRST]: expect.stringMatching(why) as string });
    const written = world.handoff(['write', 'retry-policy', '--file', join(folder, FIRST)], { session: me });
    expect(written.status).toBe(2);
    expect(written.stderr).toContain(String(reasons()[FIRST]));
  });

  it('gives its sender none of its own notes to read', () => {
    world.handoff(['import'], { session: me });
    world.git(['config', 'handoff.operator', 'alice']);
    const unread = world.json(['list', '--unread'], { session: me }).items;
    expect(unread.map(({ topic }) => topic)).toEqual(['release-plan']);
  });

  it('gets a shorter name for a long topic, under which the note can be written again', () => {
    const topic = Array.from({ length: 16 }, () => 'Long').join('_');
    const note = `---\nschema_version: '1.0'\nfrom: 'dora'\nto: 'bob'\ntopic: '${topic}'\nts_utc: '2026-05-07T12:00:00Z'\n---\nx\n`;
    const file = world.put(join(world.root, 'long.md'), note);
    const [item] = world.json(['import', file], { session: me }).items;
    const again = world.handoff(['write', String(item?.topic), '--take', '--file', file], { session: me });
    expect(again.stderr).toBe('');
  });

  it('keeps the bytes of CRLF files, whose ids are the same', () => {
    const bytes = Buffer.from(readFileSync(join(folder, FIRST), 'utf8').replaceAll('\n', '\r\n'));
    writeFileSync(join(folder, FIRST), bytes);
    expect(reasons()).toEqual({});
    expect(world.handoff(['show', 'retry-policy', '--raw']).bytes.equals(bytes)).toBe(true);
  });
});
