import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestRepository, finished } from '../support/repository.ts';

const session = 'aaaaaaaa-1111';
const other = 'bbbbbbbb-2222';
const REF = 'refs/handoffs/main/auth-refresh';
const KEPT = 'refs/handoffs-local/kept/main/auth-refresh';
let repo: TestRepository;

beforeEach(() => {
  repo = new TestRepository();
});
afterEach(() => repo.remove());

const write = (text: string, by = session, more: string[] = []) =>
  repo.handoff(['write', 'auth-refresh', '-m', text, ...more], { session: by });

describe('a write that was killed between its two refs', () => {
  beforeEach(() => {
    repo.ok(['write', 'auth-refresh', '-m', 'old'], { session });
    repo.ok(['write', 'auth-refresh', '-m', 'new', '--take'], { session: other });
  });

  it.each([
    ['its second note', () => repo.git(['update-ref', KEPT, `${REF}~1`])],
    ['its first note', () => repo.git(['update-ref', '-d', KEPT])],
  ])('after %s is taken as written, without a word', (_what, kill) => {
    kill();
    const tip = repo.ref(REF);
    for (const words of [['list'], ['show', 'auth-refresh'], ['log', 'auth-refresh'], ['doctor']]) {
      const done = repo.handoff(words, { session });
      expect(done).toMatchObject({ status: 0, stderr: '' });
    }
    expect(repo.ok(['show', 'auth-refresh', '--raw'], { session })).toBe('new');
    const next = write('next', other);
    expect(next).toMatchObject({ status: 0, stderr: '' });
    const [current, kept, former] = repo.git(['rev-parse', REF, KEPT, `${REF}~1`]).split('\n');
    expect([kept, former]).toEqual([current, tip]);
    expect(next.stdout).toBe(`left main/auth-refresh (${current?.slice(0, 7)})\n`);
  });

  it('is repaired by doctor --fix', () => {
    repo.git(['update-ref', KEPT, `${REF}~1`]);
    expect(repo.handoff(['doctor', '--fix'], { session })).toMatchObject({ status: 0, stderr: '' });
    expect(repo.ref(KEPT)).toBe(repo.ref(REF));
  });
});

describe('SIGKILL at any moment of a write', () => {
  it('leaves the old or the new note, and the next command works without a false alarm', async () => {
    repo.ok(['write', 'auth-refresh', '-m', 'note 0'], { session });
    let landed = 0;
    for (let round = 1; round <= 24; round++) {
      const before = repo.ref(REF);
      const child = repo.start(
        '/bin/sh',
        ['-c', 'exec git-handoff write auth-refresh -m "note $0"', String(round)],
        {
          session,
        },
      );
      const ended = finished(child);
      await wait(round * 5);
      child.kill('SIGKILL');
      await ended;
      // If the writer had started a git, it is not killed with the writer, and may still be running.
      await wait(30);
      const listed = repo.handoff(['list'], { session });
      expect(listed).toMatchObject({ status: 0, stderr: '' });
      const after = repo.ref(REF);
      if (after !== before) {
        landed++;
        expect(repo.ref(`${REF}~1`)).toBe(before);
        expect(repo.ok(['show', '--raw'], { session })).toBe(`note ${round}`);
      }
    }
    expect(landed).toBeLessThan(24);
    expect(write('the end')).toMatchObject({ status: 0, stderr: '' });
    expect(repo.git(['rev-list', '--count', REF])).toBe(String(landed + 2));
    expect(repo.locks()).toEqual([]);
  });
});

describe('a lock that a killed git left', () => {
  const lock = (ref: string) => join(repo.path, '.git', `${ref}.lock`);
  const age = (file: string, seconds: number) => {
    const then = Date.now() / 1000 - seconds;
    utimesSync(file, then, then);
  };

  beforeEach(() => repo.noted(['write', 'auth-refresh', '-m', 'old'], { session }));

  it('stops the write, which keeps its text, and doctor --fix removes the lock once it is old', () => {
    writeFileSync(lock(REF), '');
    const stopped = write('precious');
    expect(stopped).toMatchObject({ status: 7, stdout: '' });
    expect(stopped.stderr).toMatch(/^error: a lock is in the way.*--lost=1\nhint: git handoff doctor\n$/);
    expect(repo.ok(['show', 'auth-refresh', '--lost=1'], { session })).toBe('precious');
    repo.handoff(['doctor', '--fix'], { session });
    expect(existsSync(lock(REF))).toBe(true);
    age(lock(REF), 660);
    expect(repo.handoff(['doctor'], { session })).toMatchObject({ status: 1 });
    expect(repo.handoff(['doctor', '--fix'], { session })).toMatchObject({ status: 0 });
    expect(existsSync(lock(REF))).toBe(false);
    expect(write('precious')).toMatchObject({ status: 0 });
  });

  it.each(['packed-refs', KEPT])('on %s is found, too', (name) => {
    writeFileSync(lock(name), '');
    age(lock(name), 660);
    expect(repo.json(['doctor'], { session }).items).toContainEqual(
      expect.objectContaining({ check: 'locks', status: 'problem', hint: 'git handoff doctor --fix' }),
    );
    repo.handoff(['doctor', '--fix'], { session });
    expect(existsSync(lock(name))).toBe(false);
  });

  it('on a branch is left to the user: it is not ours', () => {
    writeFileSync(lock('refs/heads/main'), '');
    age(lock('refs/heads/main'), 660);
    repo.handoff(['doctor', '--fix'], { session });
    expect(existsSync(lock('refs/heads/main'))).toBe(true);
  });
});

describe('a garbage collection that began before the ref had the note', () => {
  const OBJECTS = `git rev-list --objects --no-object-names ${REF} |
    sed 's,^..,.git/objects/&/,'`;

  /** Makes a git that runs the first call of a command between two pieces of shell; all other calls are unchanged. */
  function beside(command: string, before: string, after: string): Record<string, string> {
    const path = repo.env()['PATH'] ?? '';
    const [folder, once] = [join(repo.root, 'wrapped'), join(repo.root, 'once')];
    mkdirSync(folder);
    const script = `#!/bin/sh
      PATH='${path}'
      case " $* " in *' ${command} '*) mkdir '${once}' 2>/dev/null || exec git "$@" ;; *) exec git "$@" ;; esac
      ${before}
      said=$(git "$@")
      code=$?
      ${after}
      printf '%s\\n' "$said"
      exit $code`;
    writeFileSync(join(folder, 'git'), script, { mode: 0o755 });
    return { PATH: `${folder}:${path}` };
  }

  const writeBeside = (env: Record<string, string>) =>
    repo.handoff(['write', 'auth-refresh', '-m', 'precious'], { session, env, calls: 'process' });
  const marked = () => writeFileSync(join(repo.path, '.git', 'gc.pid'), '1 host');
  const sweep = () => repo.run('sh', ['-c', `rm $(${OBJECTS})`]);

  it('and ended before the write looks again loses nothing', () => {
    const env = beside('update-ref', '', `rm $(${OBJECTS})`);
    expect(writeBeside(env)).toMatchObject({ status: 0, stderr: '' });
    expect(repo.ok(['show', '--raw'], { session })).toBe('precious');
  });

  it('and deletes after the write loses nothing', () => {
    marked();
    expect(writeBeside({})).toMatchObject({ status: 0, stderr: '' });
    sweep();
    expect(repo.ok(['show', '--raw'], { session })).toBe('precious');
  });

  it('and deletes while the write stores its objects again loses nothing', () => {
    marked();
    // git still finds these objects, but can no longer read them.
    const env = beside(
      'index-pack',
      `objects=$(${OBJECTS}); for object in $objects; do ln -sf gone $object; done`,
      'rm $objects',
    );
    expect(writeBeside(env)).toMatchObject({ status: 0, stderr: '' });
    expect(repo.ok(['show', '--raw'], { session })).toBe('precious');
  });
});

describe('an object that is gone or damaged', () => {
  const TOPICS = ['auth-refresh', 'retry-queue', 'sound-topic'];
  const file = (name: string) => {
    const oid = repo.git(['rev-parse', name]);
    return join(repo.path, '.git', 'objects', oid.slice(0, 2), oid.slice(2));
  };
  const lose = (name: string) => rmSync(file(name), { force: true });
  const damage = (name: string) => {
    const path = file(name);
    rmSync(path, { force: true });
    writeFileSync(path, 'no zlib stream');
  };

  beforeEach(() => {
    for (const topic of TOPICS) {
      repo.ok(['write', topic, '-m', `about ${topic}`], { session });
      repo.ok(['write', topic, '-m', `more about ${topic}`], { session });
    }
  });

  it.each<[string, number, () => void]>([
    ['the commit, gone', 6, () => lose(REF)],
    ['the commit, damaged', 6, () => damage(REF)],
    ['the tree, gone', 6, () => lose(`${REF}^{tree}`)],
    ['the note, gone', 0, () => lose(`${REF}:handoff.md`)],
    ['the note, damaged', 0, () => damage(`${REF}:handoff.md`)],
    ['state.json, gone', 6, () => lose(`${REF}:state.json`)],
    ['the former commit, gone', 0, () => lose(`${REF}~1`)],
    [
      'what was kept, gone, with the public ref ahead',
      6,
      () => {
        repo.git(['update-ref', KEPT, `${REF}~1`]);
        lose(KEPT);
      },
    ],
  ])('of one topic (%s) leaves the others listed, shown and written', (_what, status, break_) => {
    break_();
    const listed = repo.json(['list'], { session }).items.map((item) => item['topic']);
    expect(listed).toEqual(expect.arrayContaining(TOPICS.slice(1)));
    expect(repo.ok(['show', 'retry-queue', '--raw'], { session })).toBe('more about retry-queue');
    repo.ok(['write', 'retry-queue', '-m', 'goes on'], { session });
    for (const words of [['show', 'auth-refresh'], ['log', 'auth-refresh'], ['list'], ['doctor']]) {
      const done = repo.handoff(words, { session });
      expect(done.status, done.stderr).not.toBe(70);
      expect(done.stderr).not.toContain('    at ');
    }
    const written = write('mine');
    expect(written.status, written.stderr).toBe(status);
    if (status !== 0)
      expect(written.stderr).toMatch(/your text is kept, print it with: git handoff show .* --lost=\d+/);
  });
});
