import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { A, B, SharingWorld, TEN } from '../support/sharing-world.ts';

/**
 * Random histories of two sessions in one working tree, against a model that knows whose each change is. Every
 * verdict is predicted, and no text is ever lost. `GIT_HANDOFF_HISTORIES` sets how many (default 8; 200 take about ten
 * minutes), `GIT_HANDOFF_SEED` repeats a run.
 */
const HISTORIES = Number(process.env['GIT_HANDOFF_HISTORIES'] ?? 8);
const SEED = Number(process.env['GIT_HANDOFF_SEED'] ?? Date.now() % 2 ** 31);

const FILES = ['src/a.ts', 'src/b.ts', 'shared.md', 'new one.txt'] as const;
type File = (typeof FILES)[number];
type Session = typeof A | typeof B;

/** What the world should look like. */
class Model {
  /** Content of HEAD and of the disk; `undefined`: no such file. */
  readonly head = new Map<File, string | undefined>();
  readonly disk = new Map<File, string | undefined>();
  readonly owner = new Map<File, Session>();

  dirty(): File[] {
    return FILES.filter((file) => this.head.get(file) !== this.disk.get(file));
  }

  changed(session: Session, file: File, content: string | undefined): void {
    this.disk.set(file, content);
    if (this.head.get(file) === content) this.owner.delete(file);
    else this.owner.set(file, session);
  }

  commit(files: readonly File[]): void {
    for (const file of files) {
      this.head.set(file, this.disk.get(file));
      this.owner.delete(file);
    }
  }

  foreign(session: Session): File[] {
    return this.dirty().filter((file) => this.owner.has(file) && this.owner.get(file) !== session);
  }

  mine(session: Session): File[] {
    return this.dirty().filter((file) => this.owner.get(file) === session);
  }
}

let world: SharingWorld;
let serial = 0;
const text = () => `${TEN}change ${(serial += 1)}\n`;

interface Step {
  readonly session: Session;
  readonly file: File;
  readonly act:
    'write' | 'shell' | 'named' | 'remove' | 'sweep' | 'only' | 'mine' | 'take' | 'discard' | 'stash';
}

const quoted = (file: string) => `'${file}'`;

/** Does one step in the world and in the model, and compares. */
function play(model: Model, { session, file, act }: Step): void {
  const owner = model.owner.get(file);
  const isForeign = owner !== undefined && owner !== session;
  const said = (kind: string) => ({ session: session.slice(0, 1), act, file, denied: kind === 'deny' });
  const expected = (denied: boolean) => ({ session: session.slice(0, 1), act, file, denied });
  switch (act) {
    case 'write': {
      const content = text();
      expect(said(world.write(session, file, content).kind)).toEqual(expected(isForeign));
      if (!isForeign) model.changed(session, file, content);
      break;
    }
    case 'named': {
      const content = `named ${(serial += 1)}\n`;
      const command = `printf '${content.trim()}\\n' > ${quoted(file)}`;
      expect(said(world.bash(session, command).before.kind)).toEqual(expected(isForeign));
      if (!isForeign) model.changed(session, file, content);
      break;
    }
    case 'shell': {
      // The command names no file. If nobody else has a claim on the file, the change is the session's.
      if (isForeign) break;
      const content = text();
      const code = Buffer.from(
        `require('fs').writeFileSync(${JSON.stringify(file)}, ${JSON.stringify(content)})`,
      );
      const command = `node -e "eval(atob('${code.toString('base64')}'))"`;
      expect(said(world.bash(session, command).before.kind)).toEqual(expected(false));
      model.changed(session, file, content);
      break;
    }
    case 'remove': {
      if (model.disk.get(file) === undefined) break;
      expect(said(world.bash(session, `rm ${quoted(file)}`).before.kind)).toEqual(expected(isForeign));
      if (!isForeign) model.changed(session, file, undefined);
      break;
    }
    case 'sweep': {
      const files = model.dirty();
      const { run } = world.bash(session, 'git add -A && git commit -qm sweep');
      const refused = model.foreign(session).length > 0;
      expect({ act, session, committed: run?.status === 0 }).toEqual({
        act,
        session,
        committed: !refused && files.length > 0,
      });
      if (refused) {
        expect(run?.stderr).toContain(model.owner.get(model.foreign(session)[0]!)!.slice(0, 8));
        world.git(['reset', '-q']);
      } else model.commit(files);
      break;
    }
    case 'only': {
      const mine = model.mine(session);
      const tracked = mine.filter((one) => model.head.get(one) !== undefined);
      if (tracked.length === 0) break;
      const { run } = world.bash(session, `git commit -qm only -- ${tracked.map(quoted).join(' ')}`);
      expect({ act, run: run?.stderr, status: run?.status }).toMatchObject({ act, status: 0 });
      model.commit(tracked);
      break;
    }
    case 'mine': {
      const mine = model.mine(session);
      const { run } = world.bash(session, 'git handoff commit -m mine');
      expect({ act, mine, status: run?.status, err: run?.stderr }).toMatchObject({
        act,
        mine,
        status: mine.length > 0 ? 0 : 1,
      });
      model.commit(mine);
      break;
    }
    case 'take': {
      if (!model.dirty().includes(file)) break;
      for (const other of [A, B]) if (other !== session) world.stop(other);
      const { run } = world.bash(session, `git handoff take -- ${quoted(file)}`);
      expect({ act, status: run?.status, err: run?.stderr }).toMatchObject({ act, status: 0 });
      model.owner.set(file, session);
      break;
    }
    case 'discard': {
      if (model.head.get(file) === undefined) break;
      expect(said(world.bash(session, `git restore -- ${quoted(file)}`).before.kind)).toEqual(
        expected(isForeign && model.dirty().includes(file)),
      );
      if (!isForeign) model.changed(session, file, model.head.get(file));
      break;
    }
    case 'stash': {
      const refused = model.foreign(session).some((one) => model.head.get(one) !== undefined);
      const { before } = world.bash(session, 'git stash -q && git stash pop -q || true');
      expect(said(before.kind)).toEqual(expected(refused));
      break;
    }
  }
  compare(model);
}

/** Expects that disk and HEAD are as the model says: nothing was lost, nothing was added. */
function compare(model: Model): void {
  for (const file of FILES) {
    const shown = world.run('git', ['show', `HEAD:${file}`]);
    expect({ file, head: shown.status === 0 ? shown.stdout : undefined }).toEqual({
      file,
      head: model.head.get(file),
    });
    let disk: string | undefined;
    try {
      disk = world.read(file);
    } catch {
      disk = undefined;
    }
    expect({ file, disk }).toEqual({ file, disk: model.disk.get(file) });
  }
}

const step: fc.Arbitrary<Step> = fc.record({
  session: fc.constantFrom<Session>(A, B),
  file: fc.constantFrom(...FILES),
  act: fc.constantFrom<Step['act'][]>(
    'write',
    'write',
    'shell',
    'named',
    'remove',
    'sweep',
    'sweep',
    'only',
    'mine',
    'take',
    'discard',
    'stash',
  ),
});

describe('two sessions in one working tree', () => {
  beforeAll(() => {
    world = new SharingWorld({ ready: [A, B] });
  });
  afterAll(() => world.remove());

  it(
    `do what the model says in ${HISTORIES} histories (seed ${SEED})`,
    () => {
      fc.assert(
        fc.property(fc.array(step, { minLength: 4, maxLength: 14 }), (steps) => {
          // A person commits everything, which ends all claims of the history before.
          world.git(['add', '-A']);
          world.git(['commit', '-q', '--allow-empty', '-m', 'between']);
          const model = new Model();
          for (const file of FILES) {
            const shown = world.run('git', ['show', `HEAD:${file}`]);
            const content = shown.status === 0 ? shown.stdout : undefined;
            model.head.set(file, content);
            model.disk.set(file, content);
          }
          world.bash(A, 'true; make -n');
          world.bash(B, 'true; make -n');
          for (const one of steps) play(model, one);
        }),
        { numRuns: HISTORIES, seed: SEED, endOnFailure: true },
      );
      expect(world.git(['fsck', '--no-dangling'])).toBe('');
    },
    Math.max(120_000, HISTORIES * 6000),
  );
});
