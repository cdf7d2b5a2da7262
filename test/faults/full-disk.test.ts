import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { FaultWorld, REF } from '../support/faults/fault-world.ts';
import { amount, seeded, Tally } from '../support/faults/seed.ts';
import type { Run, RunOptions } from '../support/repository.ts';

/** Why no small disk can be mounted here; `undefined` if it can. */
const NO_MOUNT: string | undefined = (() => {
  const words = ['-Urm', 'sh', '-c', 'mount -t tmpfs none /tmp'];
  const { error, status } = spawnSync('unshare', words);
  if (error !== undefined) return 'unshare is not installed';
  return status === 0 ? undefined : 'a user namespace may not mount here';
})();

/**
 * A repository on a small tmpfs, in its own mount namespace: nobody else sees the mount, and it disappears
 * with the process that holds it. The rest of the world is outside, on the real disk.
 */
class SmallDisk extends FaultWorld {
  /** Not a #private field, because the base constructor runs git before #private fields exist. */
  private readonly holder: ChildProcessByStdio<Writable, Readable, null> | undefined;

  static async mount(size: string, inodes: number): Promise<SmallDisk> {
    const disk = new SmallDisk(size, inodes);
    if (disk.holder !== undefined) await once(disk.holder.stdout, 'data');
    disk.#fill();
    return disk;
  }

  private constructor(size: string, inodes: number) {
    super({ head: 'unborn' });
    mkdirSync(this.path, { recursive: true });
    const mount = `mount -t tmpfs -o size=${size},nr_inodes=${inodes} none '${this.path}' && echo ready && exec cat`;
    this.holder = spawn('unshare', ['-Urm', 'sh', '-c', mount], { stdio: ['pipe', 'pipe', 'inherit'] });
  }

  #fill(): void {
    this.git(['init', '-q', '--template=', '.']);
    this.git(['commit', '-q', '--allow-empty', '-m', 'start']);
  }

  /** Runs a program where the disk is mounted. */
  override run(program: string, args: readonly string[], options: RunOptions = {}): Run {
    if (this.holder === undefined) return super.run(program, args, options);
    const inside = ['-t', String(this.holder.pid), '-U', '-m', '--preserve-credentials'];
    // nsenter keeps its working folder, which is not the mounted one.
    const words = ['sh', '-c', 'cd "$0" && exec "$@"', options.cwd ?? this.path, program, ...args];
    return super.run('nsenter', [...inside, ...words], { ...options, cwd: this.root });
  }

  /** Runs lines of shell on the disk. */
  shell(lines: string): string {
    return this.run('sh', ['-c', lines]).stdout.trim();
  }

  /** Fills the disk except for this many bytes; removing the file `filler` gives them back. */
  leaveBytes(free: number): void {
    this.shell(`cat /dev/zero > filler 2>/dev/null; truncate -s -${free} filler`);
  }

  /** Uses up all inodes but this many; removing the folder `filler` gives them back. */
  leaveInodes(free: number): void {
    const available = Number(this.shell('mkdir filler; df --output=iavail . | tail -n 1'));
    this.shell(`i=${free}; while [ $i -lt ${available} ]; do : > filler/$i; i=$((i + 1)); done`);
  }

  giveBack(): void {
    this.shell('rm -rf filler');
  }

  remountReadOnly(): void {
    this.shell('mount -o remount,ro .');
  }

  override remove(): void {
    this.holder?.stdin.end();
    super.remove();
  }
}

const PAGE = 4096;
const LEVELS = amount(8, 100);
/** The size of the disk, which must also hold what earlier levels have written. */
const [SIZE, INODES] = [amount(1, 32), amount(400, 40_000)];
/** The answer of a command that found no room. */
const NO_ROOM = {
  status: 7,
  stderr: expect.stringMatching(/^error: .*\nhint: (?:free some disk space|look for free space)/) as string,
};
const skipped = NO_MOUNT === undefined ? '' : ` (skipped: ${NO_MOUNT})`;

/** Writes while the disk has almost no room; the text must be at the tip or kept on another disk. */
function writeWithLittle(disk: SmallDisk, text: string, take: () => void, tally: Tally): void {
  const before = disk.tip();
  take();
  const done = disk.write(text);
  const where = disk.whereabouts(text, done.stderr);
  tally.add(`text: ${where ?? 'lost'}`);
  expect(where, `exit ${done.status}: ${done.stderr}`).toBeDefined();
  expect(disk.expectOldOrNew(before, text, done.stdout)).toBe(done.status === 0);
  if (done.status !== 0) expect(done).toMatchObject(NO_ROOM);
  disk.giveBack();
  expect(disk.locks()).toEqual([]);
}

const WORK = 'half-done';
/** Work needs more room than a note, so the levels are this many pages or inodes apart. */
const STEP = amount(2, 1);
const STEPS = amount(5, 60);
const PACK = ['write', WORK, '-m', 'half', '--with-work', '--', '.'];
const UNPACK = ['unpack', WORK];

/** Makes changes of a few kinds, each larger than a page. */
function makeChanges(disk: SmallDisk): void {
  disk.shell(`lines() { i=0; while [ $i -lt 400 ]; do echo "$1 $i of many"; i=$((i + 1)); done; }
    lines staged > a && git add a && lines disk > a
    rm b && mkdir b && lines inner > b/inner
    mkdir -p new/folder && lines new > new/folder/one
    rm c`);
}

/** The changes according to git and the disk, one line for each fact. */
const changesOf = (disk: SmallDisk) =>
  disk.shell(`git status --porcelain=v2 --no-renames --untracked-files=all
    for path in a b b/inner c new/folder/one; do test -f $path && sha1sum $path; done`);

function discard(disk: SmallDisk): void {
  disk.shell('git read-tree --empty && git reset -q --hard && git clean -qffd');
}

describe.skipIf(NO_MOUNT)(`a repository on a full disk${skipped}`, () => {
  it(`keeps its notes and the new text, with 0 to ${LEVELS - 1} pages or inodes left`, () =>
    seeded('full disk', async () => {
      const tally = new Tally();
      const disk = await SmallDisk.mount(`${SIZE}m`, INODES);
      try {
        disk.mustWrite('the beginning\n');
        for (let level = 0; level < LEVELS; level++) {
          writeWithLittle(disk, `page ${level}\n`, () => disk.leaveBytes(level * PAGE), tally);
          writeWithLittle(disk, `inode ${level}\n`, () => disk.leaveInodes(level), tally);
        }
        expect(tally.of('text: file')).toBeGreaterThan(0);
        disk.mustWrite('there is room again\n');
        expect(disk.noteOf(REF)).toBe('there is room again\n');
        disk.expectSound();
        return tally.figures;
      } finally {
        disk.remove();
      }
    }));

  it('that became read-only, still shows its notes, and keeps a new text elsewhere', async () => {
    const disk = await SmallDisk.mount('1m', 400);
    try {
      const tip = disk.mustWrite('old\n');
      disk.remountReadOnly();
      const done = disk.write('new\n');
      expect(done).toMatchObject({ status: 7, stdout: '' });
      expect(done.stderr).toContain('Read-only file system');
      expect(disk.whereabouts('new\n', done.stderr)).toBe('file');
      expect(disk.tip()).toBe(tip);
      for (const words of [['show', '--raw'], ['list'], ['log', 'auth-refresh'], ['doctor']]) {
        expect(disk.handoff(words, { session: disk.session }), words[0]).toMatchObject({
          status: 0,
          stderr: '',
        });
      }
    } finally {
      disk.remove();
    }
  });

  it(`loses no work of a note, with 0 to ${(STEPS - 1) * STEP} pages or inodes left`, () =>
    seeded('full disk, work', async () => {
      const tally = new Tally();
      const disk = await SmallDisk.mount(`${2 * SIZE}m`, INODES);
      /** Runs one command with little room; returns whether it succeeded. */
      const isDone = (words: readonly string[], take: () => void) => {
        take();
        const { status, stderr } = disk.handoff(words, { session: disk.session });
        disk.giveBack();
        if (status !== 0) expect({ status, stderr }).toMatchObject(NO_ROOM);
        expect(disk.locks()).toEqual([]);
        tally.add(`${words[0]}: ${status === 0 ? 'done' : 'no room'}`);
        return status === 0;
      };
      try {
        disk.shell(
          'mkdir .git/info; echo filler >> .git/info/exclude; for name in a b c; do echo old > $name; done',
        );
        disk.shell('git add a b c && git commit -qm base');
        const none = changesOf(disk);
        makeChanges(disk);
        const all = changesOf(disk);
        const known = new Set([...none.split('\n'), ...all.split('\n')]);
        for (let level = 0; level < STEPS * STEP; level += STEP)
          for (const take of [() => disk.leaveBytes(level * PAGE), () => disk.leaveInodes(level)]) {
            isDone(PACK, take);
            expect(changesOf(disk)).toBe(all);
            expect(disk.handoff(PACK, { session: disk.session })).toMatchObject({ status: 0 });
            discard(disk);
            if (isDone(UNPACK, take)) expect(changesOf(disk)).toBe(all);
            const contents = changesOf(disk).match(/^[0-9a-f]{40} .*$/gm) ?? [];
            expect(contents.filter((line) => !known.has(line))).toEqual([]);
            expect(disk.handoff(UNPACK, { session: disk.session })).toMatchObject({ status: 0 });
            expect(changesOf(disk)).toBe(all);
          }
        expect(tally.of('unpack: no room')).toBeGreaterThan(0);
        expect(tally.of('write: done')).toBeGreaterThan(0);
        return tally.figures;
      } finally {
        disk.remove();
      }
    }));

  it(`tries a session’s changes, and leaves nothing behind, with 0 to ${(STEPS - 1) * STEP} pages or inodes left`, () =>
    seeded('full disk, try', async () => {
      const tally = new Tally();
      const disk = await SmallDisk.mount(`${2 * SIZE}m`, INODES);
      const session = { session: disk.session };
      /** The git directory's files, without objects, logs and the tree of `try`: a run must neither add nor remove one. */
      const leftovers = () =>
        disk.shell(
          "find .git -type f ! -path '.git/objects/*' ! -path '.git/handoff/*' ! -path '.git/logs/*' ! -path '.git/worktrees/*' ! -name index | sort",
        );
      const prepare = {
        'no tree': () => disk.shell('rm -rf .git/handoff/try && git worktree prune'),
        'an older tree': () => disk.handoff(['try', 'true'], session),
      };
      const run = (take: () => void, what: string, argv: readonly string[]) => {
        const before = leftovers();
        const changes = changesOf(disk);
        take();
        const { status, stdout, stderr } = disk.handoff(['try', ...argv], session);
        disk.giveBack();
        disk.shell('rm -rf .git/handoff/try/filler');
        const isRun = stdout.includes('ran');
        tally.add(`${what}: ${isRun ? 'ran' : 'no room'}`);
        if (isRun) expect({ status, stderr }).toMatchObject({ status: 5 });
        else expect({ status, stderr }).toMatchObject(NO_ROOM);
        expect(leftovers()).toBe(before);
        expect(disk.locks()).toEqual([]);
        expect(changesOf(disk)).toBe(changes);
        const doctor = disk.handoff(['doctor']);
        expect(doctor.stdout).not.toMatch(/^(?:problem|warning)/m);
        expect(disk.git(['worktree', 'list', '--porcelain'])).not.toMatch(/^(?:prunable|locked)/m);
        return stderr;
      };
      try {
        disk.shell(
          'mkdir .git/info; echo filler >> .git/info/exclude; for name in a b c; do echo old > $name; done',
        );
        disk.shell('git add a b c && git commit -qm base');
        makeChanges(disk);
        disk.ok(['init', '--client', 'claude', '--yes']);
        const start = { session_id: disk.session, cwd: disk.path, hook_event_name: 'SessionStart' };
        disk.ok(['guard', '--client', 'claude'], { input: JSON.stringify(start) });
        disk.ok(['take', '--', 'a', 'b/inner', 'c', 'new/folder/one'], session);
        for (let level = 0; level < STEPS * STEP; level += STEP)
          for (const take of [() => disk.leaveBytes(level * PAGE), () => disk.leaveInodes(level)])
            for (const [what, before] of Object.entries(prepare)) {
              before();
              disk.shell(`echo ${level} >> a`);
              run(take, what, ['sh', '-c', 'echo ran; exit 5']);
            }
        // The journal's next line needs a new page, and no file of ours could be removed to free one.
        const [journal, group] = [`handoff/sessions/${disk.session}.jsonl`, 'handoff-try.group'];
        const pad = `printf '%*s\\n' $((${PAGE - 1} - $(stat -c %s ${journal}) % ${PAGE})) '' >> ${journal}`;
        const lines = `(cd ${disk.path}/.git; ${pad}; : > ${group}); echo ran; cat /dev/zero > filler; exit 5`;
        const fill = ['sh', '-c', lines];
        expect(run(() => undefined, 'fills the disk', fill)).toContain(
          'the result was not kept, so your next note will lack it: ENOSPC',
        );
        expect(disk.ok(['try', 'cat', 'new/folder/one'], session)).toContain('new 0 of many');
        disk.ok(['write', WORK, '-m', 'tried'], session);
        expect(disk.ok(['boot', WORK], session)).toContain('cat new/folder/one');
        expect(tally.of('no tree: no room')).toBeGreaterThan(0);
        disk.expectSound();
        return tally.figures;
      } finally {
        disk.remove();
      }
    }));
});
