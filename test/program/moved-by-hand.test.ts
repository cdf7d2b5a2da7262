import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestRepository } from '../support/repository.ts';

const session = 'aaaaaaaa-1111';
const REF = 'refs/handoffs/main/auth-refresh';
const KEPT = 'refs/handoffs-local/kept/main/auth-refresh';
let repo: TestRepository;
/** The tip that was written last, which is the valid one. */
let tip: string;

beforeEach(() => {
  repo = new TestRepository();
  repo.ok(['write', 'auth-refresh', '-m', 'first'], { session });
  tip = repo.noted(['write', 'auth-refresh', '-m', 'the truth'], { session });
});
afterEach(() => repo.remove());

/** A remote with the handoffs of an unrelated repository, among them the same topic. */
function foreignRemote(): string {
  const other = new TestRepository();
  try {
    other.ok(['write', 'auth-refresh', '-m', 'from elsewhere'], { session: 'eeeeeeee-5555' });
    const path = `${repo.root}/remote.git`;
    repo.git(['clone', '-q', '--mirror', other.path, path], { cwd: repo.root });
    repo.git(['remote', 'add', 'origin', path]);
    return path;
  } finally {
    other.remove();
  }
}

const MOVES: Readonly<Record<string, () => void>> = {
  'a rewind': () => repo.git(['update-ref', REF, `${REF}~1`]),
  'a deletion': () => repo.git(['update-ref', '-d', REF]),
  'a forced fetch': () => {
    foreignRemote();
    repo.git(['fetch', '-q', 'origin', '+refs/handoffs/*:refs/handoffs/*']);
  },
  'a pruning fetch': () => {
    const path = foreignRemote();
    repo.git(['update-ref', '-d', REF], { cwd: path });
    repo.git(['fetch', '-q', '--prune', 'origin', '+refs/handoffs/*:refs/handoffs/*']);
  },
  'a code commit': () => repo.git(['update-ref', REF, 'HEAD']),
  'a blob': () => repo.git(['update-ref', REF, repo.git(['hash-object', '-w', '--stdin'], { input: 'bad' })]),
  'a tree': () => repo.git(['update-ref', REF, 'HEAD^{tree}']),
  'a tag object': () => {
    repo.git(['tag', '-a', '-m', 'x', 'v1', tip]);
    repo.git(['update-ref', REF, 'refs/tags/v1']);
  },
  'a symbolic ref to code': () => repo.git(['symbolic-ref', REF, 'refs/heads/main']),
  'a symbolic ref to its own past': () => {
    repo.git(['update-ref', 'refs/x/past', `${REF}~1`]);
    repo.git(['symbolic-ref', REF, 'refs/x/past']);
  },
  'a symbolic ref to nothing': () => repo.git(['symbolic-ref', REF, 'refs/x/nothing']),
  'a foreign write without a take': () => plant(`Claude-Session-Id: bbbbbbbb-2222\nHandoff-State: open`),
  'a commit without trailers': () => plant('nothing to see here'),
  'a note of another topic': () => {
    const other = repo.noted(['write', 'other-topic', '-m', 'x'], { session });
    repo.git(['update-ref', REF, other]);
  },
};

/** Puts a commit with these trailers on top of the tip, by hand. */
function plant(trailers: string): void {
  const input = `planted\n\n${trailers}\n`;
  const commit = repo.git(['commit-tree', `${REF}^{tree}`, '-p', REF], { input });
  repo.git(['update-ref', REF, commit]);
}

describe.each(Object.keys(MOVES))('%s of a public ref', (name) => {
  beforeEach(() => MOVES[name]!());

  it('is reported once, by whichever command comes first, and never shown as the truth', () => {
    const first = repo.handoff(['list'], { session });
    expect(first.stderr).toMatch(/^notice: refs\/handoffs\/main\/auth-refresh was (moved|deleted) .*\n$/);
    expect(first).toMatchObject({ status: 0 });
    expect(first.stdout).toContain('the truth');
    for (const verb of [['list'], ['show', 'auth-refresh'], ['log', 'auth-refresh']]) {
      const again = repo.handoff(verb, { session });
      expect({ verb, stderr: again.stderr, truth: again.stdout.includes('the truth') }).toEqual({
        verb,
        stderr: '',
        truth: true,
      });
    }
  });

  it('is undone by the next write, which continues the kept note and leaves branches alone', () => {
    const heads = repo.git(['for-each-ref', 'refs/heads', 'refs/x', 'refs/tags']);
    const written = repo.handoff(['write', '--json', 'auth-refresh', '-m', 'third'], { session });
    expect(written.status).toBe(0);
    expect(written.stderr).toMatch(/^notice: /);
    const { oid } = JSON.parse(written.stdout) as { oid: string };
    expect(repo.git(['rev-parse', REF, KEPT, `${REF}~1`]).split('\n')).toEqual([oid, oid, tip]);
    expect(repo.run('git', ['symbolic-ref', '-q', REF]).status).toBe(1);
    expect(repo.git(['for-each-ref', 'refs/heads', 'refs/x', 'refs/tags'])).toBe(heads);
    expect(repo.handoff(['list'], { session }).stderr).toBe('');
  });

  it('is undone by doctor --fix, which reports it', () => {
    expect(repo.handoff(['doctor'], { session })).toMatchObject({ status: 1 });
    expect(repo.json(['doctor', '--fix'], { session }).items).toContainEqual(
      expect.objectContaining({ check: 'refs', status: 'fixed' }),
    );
    expect(repo.ref(REF)).toBe(tip);
    expect(repo.run('git', ['symbolic-ref', '-q', REF]).status).toBe(1);
    expect(repo.handoff(['list'], { session }).stderr).toBe('');
  });
});

describe('the value that was there', () => {
  it('can be read afterwards', () => {
    MOVES['a forced fetch']!();
    repo.handoff(['list'], { session });
    expect(repo.json(['show', 'auth-refresh', '--lost'], { session }).items).toMatchObject([
      { number: 1, kind: 'illegal-move', session: 'eeeeeeee-5555', reason: 'not a descendant' },
    ]);
    expect(repo.ok(['show', 'auth-refresh', '--lost=1'], { session })).toBe('from elsewhere');
  });

  it('is reported again when it is another value', () => {
    for (const target of [`${REF}~1`, 'HEAD', 'HEAD']) {
      repo.git(['update-ref', REF, target === 'HEAD' ? 'HEAD' : `${tip}~1`]);
      repo.handoff(['list'], { session });
    }
    expect(repo.json(['show', 'auth-refresh', '--lost'], { session }).items).toHaveLength(2);
  });
});

describe('a ref that nobody here ever wrote', () => {
  it('is no handoff when it points at code', () => {
    repo.git(['update-ref', 'refs/handoffs/main/by-hand', 'HEAD']);
    const shown = repo.handoff(['show', 'by-hand'], { session });
    expect(shown.status).toBe(6);
    expect(repo.json(['list'], { session }).items.map((item) => item['topic'])).toEqual(['auth-refresh']);
  });

  it('is replaced by the first note of the next write', () => {
    repo.git(['update-ref', 'refs/handoffs/main/by-hand', 'HEAD']);
    const oid = repo.noted(['write', 'by-hand', '-m', 'mine'], { session });
    expect(repo.git(['rev-list', '--count', oid])).toBe('1');
    expect(repo.json(['show', 'by-hand'], { session })).toMatchObject({ oid, parent: null });
  });

  it('is removed by doctor --fix', () => {
    repo.git(['update-ref', 'refs/handoffs/main/by-hand', 'HEAD']);
    repo.handoff(['doctor', '--fix'], { session });
    expect(repo.ref('refs/handoffs/main/by-hand')).toBeUndefined();
  });

  it('is a handoff when its whole chain is legal, as after a plain fetch', () => {
    repo.git(['update-ref', '-d', KEPT]);
    expect(repo.handoff(['show', 'auth-refresh', '--raw'], { session })).toMatchObject({
      stdout: 'the truth\n',
      stderr: '',
    });
    repo.ok(['write', 'auth-refresh', '-m', 'on'], { session });
    expect(repo.ref(KEPT)).toBe(repo.ref(REF));
  });
});

describe('a tip that this program cannot read', () => {
  it('is never written over when its object is gone', () => {
    repo.run('rm', ['-f', `.git/objects/${tip.slice(0, 2)}/${tip.slice(2)}`]);
    const run = repo.handoff(['write', 'auth-refresh', '-m', 'x', '--take'], { session: 'bbbbbbbb-2222' });
    expect(run.status).toBe(6);
    expect(run.stderr).toContain(
      `the last commit of this handoff (${tip}) cannot be read; your text is kept`,
    );
    expect(repo.git(['for-each-ref', '--format=%(objectname)', REF, KEPT])).toBe(`${tip}\n${tip}`);
  });

  it('is shown, and not rewritten, when a later version of the program wrote it', () => {
    const state = repo.git(['show', `${REF}:state.json`]).replace('"version": 1', '"version": 2');
    const blobs = [repo.git(['rev-parse', `${REF}:handoff.md`]), blob(state)];
    const input = ['handoff.md', 'state.json']
      .map((name, at) => `100644 blob ${blobs[at]}\t${name}\n`)
      .join('');
    const tree = repo.git(['mktree'], { input });
    const message = `from later\n\nClaude-Session-Id: ${session}\nHandoff-State: open\n`;
    const later = repo.git(['commit-tree', tree, '-p', REF], { input: message });
    repo.git(['update-ref', REF, later]);
    const list = repo.handoff(['list'], { session });
    expect(list).toMatchObject({ status: 0, stderr: '' });
    expect(list.stdout).toContain('from later');
    expect(repo.handoff(['write', 'auth-refresh', '-m', 'x'], { session })).toMatchObject({ status: 6 });
    expect(repo.ref(REF)).toBe(later);
  });
});

const blob = (input: string) => repo.git(['hash-object', '-w', '--stdin'], { input });
