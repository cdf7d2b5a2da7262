import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { Run, RunOptions } from '../repository.ts';
import { FaultWorld } from './fault-world.ts';

/** Why no small disk can be mounted here, `undefined` when it can. */
export const NO_MOUNT: string | undefined = (() => {
  const words = ['-Urm', 'sh', '-c', 'mount -t tmpfs none /tmp'];
  const { error, status } = spawnSync('unshare', words);
  if (error !== undefined) return 'unshare is not installed';
  return status === 0 ? undefined : 'a user namespace may not mount here';
})();

/**
 * A repository on a small tmpfs, in a mount namespace of its own: nobody else sees the mount, and it is gone
 * with the process that holds it. Everything else of the world is outside, on the real disk.
 */
export class SmallDisk extends FaultWorld {
  /** Not a #private field: the constructor above runs git before this one has any. */
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
    // nsenter keeps the folder that it was started in, which is not the mounted one.
    const words = ['sh', '-c', 'cd "$0" && exec "$@"', options.cwd ?? this.path, program, ...args];
    return super.run('nsenter', [...inside, ...words], { ...options, cwd: this.root });
  }

  /** Runs lines of shell on the disk. */
  shell(lines: string): string {
    return this.run('sh', ['-c', lines]).stdout.trim();
  }

  /** Takes all room but this many bytes; the file `filler` gives it back. */
  leaveBytes(free: number): void {
    this.shell(`cat /dev/zero > filler 2>/dev/null; truncate -s -${free} filler`);
  }

  /** Takes all inodes but this many; the folder `filler` gives them back. */
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
