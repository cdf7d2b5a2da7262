import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestRepository } from '../support/repository.ts';

const [a, b] = ['aaaaaaaa-1111', 'bbbbbbbb-2222'];
const REF = 'refs/handoffs/main/retry-policy';
const BODY_A = 'sha256:049fa8d6ee03bdb4707b26663b2ccb138bda13ad72c58a4c3a30b656817a82b9';
const HEAD = [
  '---',
  "schema_version: '1.0'",
  'from: alice',
  'to: bob',
  'topic: retry-policy',
  'ts_utc: 2026-05-07T12:00:00Z',
  '---',
  '',
].join('\n');
let repo: TestRepository;

beforeEach(() => {
  repo = new TestRepository();
});
afterEach(() => repo.remove());

const write = (input: string | Uint8Array, words: readonly string[] = [], topic = 'retry-policy') =>
  repo.handoff(['write', topic, ...words], { session: a, input });
const stored = (topic = 'retry-policy') => repo.handoff(['show', topic, '--raw'], { session: b }).bytes;
const trailers = () =>
  repo.git(['log', '-1', '--format=%(trailers:key=Handoff-To,key=Handoff-From)', REF]).trim();

describe('a note with front matter of its own', () => {
  it.each([
    ['as it is', `${HEAD}body A\n`],
    ['with CRLF', `${HEAD}body A\n`.replaceAll('\n', '\r\n')],
    ['with a byte order mark', `\ufeff${HEAD}body A\n`],
    ['with blank lines before the text', `${HEAD}\n\n  body A\n`],
  ])('is stored byte for byte and has its id: %s', (_what, note) => {
    expect(write(note)).toMatchObject({ status: 0 });
    expect(stored().toString('utf8')).toBe(note);
    expect(repo.json(['show', 'retry-policy'])).toMatchObject({
      structured: true,
      handoffId: BODY_A,
      to: 'bob',
      from: 'alice',
      tags: [],
      references: [],
      summary: 'body A',
    });
    expect(trailers()).toBe('Handoff-To: bob\nHandoff-From: alice');
  });

  it('may contain the right id, and be written with options that say the same', () => {
    const note = HEAD.replace('from:', `handoff_id: '${BODY_A}'\nfrom:`) + 'body A\n';
    expect(write(note, ['--to', 'bob'])).toMatchObject({ status: 0, stderr: '' });
    expect(stored().toString('utf8')).toBe(note);
  });

  it('is refused with a wrong id, naming both ids, and is kept', () => {
    const wrong = `sha256:${'0'.repeat(64)}`;
    const note = HEAD.replace('from:', `handoff_id: '${wrong}'\nfrom:`) + 'body A\n';
    const { status, stderr } = write(note);
    expect(status).toBe(6);
    expect(stderr).toContain(wrong);
    expect(stderr).toContain(BODY_A);
    expect(repo.ok(['show', 'retry-policy', '--lost=1'])).toBe(note.trimEnd());
    expect(repo.ref(REF)).toBeUndefined();
  });

  it.each([
    ['a missing key', HEAD.replace('from: alice\n', ''), 'from is missing', "from: 'alice'"],
    ['a number', HEAD.replace("'1.0'", '1.0'), 'schema_version is a number', "schema_version: '1.0'"],
    ['a key twice', HEAD.replace('to: bob', 'to: bob\nto: eve'), 'unique', 'each key once'],
    ['a tab', HEAD.replace('to: bob', 'tags:\n\t- a\nto: bob'), 'abs are not', 'without tabs'],
    ['an alias', HEAD.replace('bob', '*b'), 'anchors and aliases', 'without tabs, anchors'],
    ['another topic', HEAD.replace('retry-policy', 'other'), 'topic is other', "topic: 'retry-policy'"],
  ])('with %s is refused with a hint, and is kept', (_what, head, message, hint) => {
    const { status, stderr } = write(`${head}body\n`);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toMatch(new RegExp(`hint: .*${hint}`));
    expect(repo.ok(['show', 'retry-policy', '--lost=1'])).toBe(`${head}body`);
  });

  it('may spell its topic as people write it', () => {
    expect(write(`${HEAD.replace('retry-policy', 'Retry_Policy')}x\n`).status).toBe(0);
  });

  it('is refused if it is not UTF-8, which is allowed without front matter', () => {
    const bytes = Buffer.concat([Buffer.from(HEAD), Buffer.from([0xff, 0x0a])]);
    expect(write(bytes).stderr).toContain('must be UTF-8');
    expect(write(Buffer.from([0xff]), [], 'other-note').status).toBe(0);
    expect(write(Buffer.from([0xff]), ['--to', 'bob'], 'third-note').status).toBe(2);
  });

  it.each<[string, string, string?]>([
    ['another tool’s', '---\ntitle: x\n---\nbody\n'],
    ['a scalar', '---\ndraft\n---\nbody\n'],
    ['broken YAML of another tool', '---\ntitle: a: b\n---\nbody\n'],
    ['a rule of Markdown', '---\nbody\n', '---'],
  ])('that is not ours passes untouched: %s', (_what, note, summary = 'body') => {
    expect(write(note)).toMatchObject({ status: 0, stderr: '' });
    expect(stored().toString('utf8')).toBe(note);
    const shown = repo.json(['show', 'retry-policy']);
    expect(shown).toMatchObject({
      structured: false,
      handoffId: null,
      to: null,
      from: null,
      summary,
    });
    expect(trailers()).toBe('');
  });
});

describe('write --to, --tag and --reference', () => {
  const words = ['--to', 'bob', '--tag', 'one', '--tag', 'two', '--reference', "it's: #1"];

  it('write the front matter, in one order, single-quoted, with the id', () => {
    expect(write('the body\n', words)).toMatchObject({ status: 0, stderr: '' });
    const shown = repo.json(['show', 'retry-policy']);
    const time = /ts_utc: '([^']+)'/.exec(String(shown['note']))?.[1] ?? '';
    expect(Date.parse(time) / 1000).toBeCloseTo(Date.now() / 1000, -2);
    expect(shown['note']).toBe(
      `---\nschema_version: '1.0'\nhandoff_id: '${String(shown['handoffId'])}'\nfrom: '${a}'\nto: 'bob'\ntopic: 'retry-policy'\nts_utc: '${time}'\nreferences:\n  - 'it''s: #1'\ntags:\n  - 'one'\n  - 'two'\n---\n\nthe body\n`,
    );
    expect(shown).toMatchObject({ to: 'bob', from: a, tags: ['one', 'two'], references: ["it's: #1"] });
    expect(shown).toMatchObject({ structured: true, summary: 'the body' });
  });

  it('change nothing in a note that says the same, so that it can be written again', () => {
    write('the body\n', words);
    const note = stored();
    expect(write(note, words)).toMatchObject({ status: 0, stderr: '' });
    expect(stored()).toEqual(note);
  });

  it.each([
    ['--to', ['--to', 'eve'], 'to is bob'],
    ['--tag', ['--tag', 'x'], 'tags is one, two'],
    ['--reference', ['--reference', 'x'], 'references is it'],
  ])('are refused where the front matter says something else: %s', (option, other, message) => {
    write('the body\n', words);
    const { status, stderr } = write(stored(), other);
    expect(status).toBe(2);
    expect(stderr).toContain(`${option} contradicts`);
    expect(stderr).toContain(message);
  });

  it('address a note to anyone without --to, and to the writer with --to me', () => {
    write('x\n', ['--tag', 'one']);
    expect(repo.json(['show', 'retry-policy'])).toMatchObject({ to: 'anyone', tags: ['one'] });
    write('x\n', ['--to', 'me'], 'other-note');
    expect(repo.json(['show', 'other-note'])).toMatchObject({ to: a });
  });

  it.each([
    [['--to', 'b b'], 'names no operator'],
    [['--to', '../x'], 'names no operator'],
    [['--tag', 'a b'], 'tags'],
    [['--reference', 'a\nb'], 'references'],
  ])('refuse %j, and the text is kept', (bad, message) => {
    const { status, stderr } = write('my text\n', bad);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain('your text is kept');
  });

  it('cannot extend another tool’s front matter', () => {
    const { status, stderr } = write('---\ntitle: x\n---\nbody\n', ['--to', 'bob']);
    expect(status).toBe(2);
    expect(stderr).toContain('hint: put an empty line before its first line');
    expect(write('\n---\ntitle: x\n---\nbody\n', ['--to', 'bob']).status).toBe(0);
  });

  it('open the editor on front matter and the headings of a handover', () => {
    const editor = join(repo.root, 'editor.sh');
    writeFileSync(
      editor,
      '#!/bin/sh\ncp "$1" "$HOME/template"\nsed "s/^# Goal/# Goal\\n\\nbe fast/" "$1" >"$1.x"; mv "$1.x" "$1"\n',
      { mode: 0o755 },
    );
    const command = 'git-handoff write retry-policy --to bob --tag one';
    const done = repo.atTerminal(command, { session: a, env: { GIT_EDITOR: editor } });
    expect(done.status, done.stdout).toBe(0);
    const template = repo.run('cat', [join(repo.home, 'template')]).stdout;
    expect(template).toMatch(/^---\nschema_version: '1\.0'\nfrom: .*\n---\n\n# Goal\n/s);
    expect([...template.matchAll(/^# (.*)$/gm)].map(([, heading]) => heading)).toContain('Stop Conditions');
    expect(repo.json(['show', 'retry-policy'])).toMatchObject({ to: 'bob', tags: ['one'], structured: true });
  });
});

describe('operators', () => {
  it('are named by the setting, else by the address in OPERATORS.md, else by the session', () => {
    const from = () => {
      write('x\n', ['--tag', 'x']);
      return repo.json(['show', 'retry-policy'])['from'];
    };
    expect(from()).toBe(a);
    writeFileSync(join(repo.path, 'OPERATORS.md'), '- ada <Ada@Example.org>\n');
    expect(from()).toBe('ada');
    repo.git(['config', 'handoff.operator', 'grace']);
    expect(from()).toBe('grace');
    repo.git(['config', 'handoff.operator', 'Grace H.']);
    const { status, stderr } = write('x\n', ['--tag', 'x']);
    expect(status).toBe(2);
    expect(stderr).toContain('hint: git config handoff.operator');
  });

  it('that OPERATORS.md does not list are refused if handoff.verifyOperators is set', () => {
    repo.git(['config', 'handoff.verifyOperators', 'true']);
    writeFileSync(join(repo.path, 'OPERATORS.md'), '| id | mail |\n|--|--|\n| alice | a@example.org |\n');
    const refused = write(`${HEAD}body\n`);
    expect(refused.status).toBe(3);
    expect(refused.stderr).toContain('OPERATORS.md does not know the operator bob');
    expect(refused.stderr).toContain('it knows alice');
    expect(repo.ok(['show', 'retry-policy', '--lost=1'])).toBe(`${HEAD}body`);
    expect(
      repo.json(['write', 'retry-policy', '--to', 'alice', '-m', 'x'], { session: a }).error,
    ).toMatchObject({
      code: 'unknown-operator',
    });
    writeFileSync(join(repo.path, 'OPERATORS.md'), '- alice\n- bob <b@example.org>\n');
    expect(write(`${HEAD}body\n`).status).toBe(0);
    expect(write('no front matter\n', [], 'other-note').status).toBe(0);
  });
});

it('show says what is wrong with a note from elsewhere, and prints it', () => {
  write(`${HEAD}body A\n`);
  const old = repo.git(['cat-file', 'commit', REF]);
  const blob = repo.git(['hash-object', '-w', '--stdin'], { input: `${HEAD.replace('bob', '7')}body\n` });
  const state = repo.git(['rev-parse', `${REF}:state.json`]);
  const tree = repo.git(['mktree'], {
    input: `100644 blob ${blob}\thandoff.md\n100644 blob ${state}\tstate.json\n`,
  });
  const commit = repo.git(['hash-object', '-w', '-t', 'commit', '--stdin'], {
    input: old.replace(/^tree .*/, `tree ${tree}\nparent ${repo.ref(REF) ?? ''}`) + '\n',
  });
  repo.git(['update-ref', REF, commit]);
  const shown = repo.handoff(['show', 'retry-policy']);
  expect(shown).toMatchObject({ status: 0 });
  expect(shown.stdout).toContain('to: 7');
  expect(shown.stderr).toContain('to is a number');
  expect(repo.json(['show', 'retry-policy'])).toMatchObject({ structured: false, handoffId: null });
});
