import { readFileSync } from 'node:fs';
import { guard } from './commands/guard.ts';

/**
 * Entry of the client hooks and the git hooks: `guard` and `hook <name>`. It exits 0 whatever
 * happens, and says nothing where it has nothing to say.
 */

/** The whole process, Node's start included. Milliseconds. */
const DEADLINE_MS = 800;

const remaining = () => Math.max(1, DEADLINE_MS - performance.now());

interface Words {
  readonly verb: string | undefined;
  readonly rest: readonly string[];
  readonly clientPid: number;
  readonly client: string | undefined;
  readonly settings: string | undefined;
}

function readWords(argv: readonly string[]): Words {
  const value = (name: string) => {
    const at = argv.findIndex((word) => word === name || word.startsWith(`${name}=`));
    if (at < 0) return undefined;
    const word = argv[at] ?? '';
    return word.includes('=') ? word.slice(name.length + 1) : argv[at + 1];
  };
  const pid = Number(value('--client-pid'));
  return {
    verb: argv[0],
    rest: argv.slice(1),
    clientPid: Number.isSafeInteger(pid) && pid > 0 ? pid : process.ppid,
    client: value('--client'),
    settings: value('--settings'),
  };
}

/** Everything that the launcher piped in; an unreadable stdin is an empty payload. */
function readPayload(): string {
  try {
    return readFileSync(0, 'utf8');
  } catch {
    return '';
  }
}

async function main(): Promise<void> {
  const words = readWords(process.argv.slice(2));
  const { env } = process;
  if (words.verb === 'guard') {
    const { clientPid, client, settings } = words;
    finish(
      await guard({
        text: readPayload(),
        client,
        settings,
        clientPid,
        env,
        cwd: process.cwd(),
        now: Date.now(),
        remaining,
      }),
    );
  } else if (words.verb === 'hook' && words.rest[0] === 'identity') {
    const { committerSession } = await import('./commands/committer-session.ts');
    const id = await committerSession({
      cwd: process.cwd(),
      env,
      clientPid: words.clientPid,
      now: Date.now(),
    });
    finish(id === undefined ? '' : `${id}\n`);
  }
}

/** Children that outlive the deadline must not hold the process. */
function finish(output: string): void {
  process.stdout.on('error', () => process.exit(0));
  process.stdout.write(output, () => process.exit(0));
}

main().catch(() => process.exit(0));
