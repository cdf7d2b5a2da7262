// Runs a command in macOS's way on Linux: the command and its children find no /proc, bash in POSIX mode as /bin/sh, and a
// ps(1) that has only macOS's options. They run in their own mount namespace, so nothing else is affected.
//   node bench/mac-way.mjs <command> [<argument>…]
// Not imitated: bash 3.2 itself (a newer bash runs with BASH_COMPAT=3.2), `process.platform`, case-insensitive file names,
// and the time that a Mac needs to start a process or to write to its disk.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** $1: a folder with `bin/ps`; $2: bash. The rest is the command. The folder keeps the real /proc, for `ps` and /dev/fd. */
const ENTER = `set -e
folder=$1 bash=$2
shift 2
mount --rbind /proc "$folder/proc"
mount -t tmpfs -o mode=755 none "$folder/dev"
for name in null zero full random urandom tty pts shm; do
  if [ ! -e "/dev/$name" ]; then continue; fi
  if [ -d "/dev/$name" ]; then mkdir "$folder/dev/$name"; else : >"$folder/dev/$name"; fi
  mount --rbind "/dev/$name" "$folder/dev/$name"
done
# The kernel looks for \`pts\` beside ptmx, so a mount of /dev/ptmx alone would not work.
mknod -m 666 "$folder/dev/ptmx" c 5 2 || ln -s pts/ptmx "$folder/dev/ptmx"
ln -s "$folder/proc/self/fd" "$folder/dev/fd"
ln -s fd/0 "$folder/dev/stdin"
ln -s fd/1 "$folder/dev/stdout"
ln -s fd/2 "$folder/dev/stderr"
mount --rbind "$folder/dev" /dev
for ps in /bin/ps /usr/bin/ps; do
  if [ -e "$ps" ]; then mount --bind "$folder/bin/ps" "$ps"; fi
done
mount --bind "$bash" /bin/sh
mount -t tmpfs -o ro,size=4k none /proc
exec "$@"`;

/** Fails unless macOS's way is as described above. */
const PROBE = `[ ! -e /proc/self ] && [ -z "$(ls /proc)" ] && [ -n "$BASH_VERSION" ] && [ -e /dev/stdin ] && ps -p $$ >/dev/null`;

/** A program for Node that measures the time of `ps`: the median of 21 runs. */
const TIME_PS = `const all = Array.from({ length: 21 }, () => {
  const began = performance.now();
  require('node:child_process').spawnSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,lstart=']);
  return performance.now() - began;
});
console.log(all.sort((a, b) => a - b)[10].toFixed(1));`;

function output(command, args, options = {}) {
  const done = spawnSync(command, args, { encoding: 'utf8', ...options });
  if (done.status === 0) return done.stdout.trim();
  if (done.error?.code === 'ENOENT') throw new Error(`${command} is not installed`);
  const said = done.error?.message ?? done.stderr;
  throw new Error(said.trim().split('\n').at(-1) || `${command} failed`);
}

/** The path of bash. Throws if /bin/sh is a program with several names (busybox): all of them would become bash. */
function findBash() {
  const sh = basename(realpathSync('/bin/sh'));
  if (!['sh', 'dash', 'bash'].includes(sh))
    throw new Error(`/bin/sh is ${sh}, which may also run as other programs`);
  const bash = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].find((path) => existsSync(path));
  if (bash === undefined) throw new Error('bash is not installed');
  return realpathSync(bash);
}

/**
 * Prepares macOS's way. `wrap` gives the command that runs another in macOS's way, and needs the environment `env`. `psMs` is
 * the time that `ps` takes there.
 *
 * @returns {{ wrap: (command: string, args: string[]) => { command: string, args: string[] }, env: Record<string, string>,
 *   psMs: number, remove: () => void } | { skipped: string }} `skipped`: why this machine cannot imitate it
 */
export function macWay() {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'git-handoff-mac-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    if (process.platform !== 'linux') throw new Error('it is imitated on Linux only');
    const bash = findBash();
    for (const name of ['bin', 'proc', 'dev']) mkdirSync(join(folder, name));
    chmodSync(folder, 0o755);
    const source = fileURLToPath(new URL('mac-ps.c', import.meta.url));
    const proc = `-DPROC="${join(folder, 'proc')}"`;
    output('cc', ['-O2', '-static', proc, '-o', join(folder, 'bin', 'ps'), source]);
    // A user other than root becomes root of a user namespace, if the kernel permits that.
    const unshare = process.getuid() === 0 ? ['--mount'] : ['--mount', '--map-root-user'];
    const wrap = (command, args) => ({
      command: 'unshare',
      args: [...unshare, 'sh', '-c', ENTER, 'sh', folder, bash, command, ...args],
    });
    const env = {
      ...process.env,
      PATH: [join(folder, 'bin'), process.env.PATH].join(delimiter),
      // Here-documents are pipes in bash 5.1, but files in 3.2.
      BASH_COMPAT: '3.2',
    };
    const inside = (...words) => {
      const { command, args } = wrap(words[0], words.slice(1));
      return output(command, args, { env });
    };
    inside('sh', '-c', PROBE);
    return { wrap, env, psMs: Number(inside(process.execPath, '-e', TIME_PS)), remove };
  } catch (error) {
    remove();
    return { skipped: error.message };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const way = macWay();
  if (way.skipped !== undefined) throw new Error(way.skipped);
  const [name = 'sh', ...rest] = process.argv.slice(2);
  const { command, args } = way.wrap(name, rest);
  process.exitCode = spawnSync(command, args, { stdio: 'inherit', env: way.env }).status ?? 1;
  way.remove();
}
