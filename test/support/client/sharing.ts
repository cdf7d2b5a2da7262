import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { createGates } from '../model/gates.ts';
import { say, type Turn } from '../model/script.ts';
import { short } from './expectations.ts';
import type { HandRun, Hands } from './hands.ts';
import { createWorld, type World } from './world.ts';

/** Two sessions that were alive at once in one working tree. */
export interface Shared {
  readonly world: World;
  readonly a: HandRun & Answers;
  readonly b: HandRun & Answers & { readonly denied: string };
}

/** What a session read when it tried to commit everything, and when it then ran the command of the refusal. */
interface Answers {
  readonly refused: string;
  readonly followed: string;
}

/** A session's commit message, in Claude Code's form, with everything that needs quoting. */
export function messageOf(who: string): string {
  return `Work of ${who}\n\nIt's "done", $HOME and all.`;
}

/** Commits everything that is dirty in the working tree, whoever owns it. */
export const commitAll = (who: string): string =>
  `git add -A && git commit -m "$(cat <<'EOF'\n${messageOf(who)}\nEOF\n)"`;
/** The command that a refusal names, with all lines of its message. In a git hook's refusal, it comes after `hint:`. */
export const NEXT_COMMAND = "{{last:(?:hint|as configured): (git (?:[^\\n'\\\\]|\\\\.|'[^']*')*)}}";
/** Any command, so that news can reach the session. */
const WORK_ON = 'node --version';
/** A command that names none of the files that it writes. */
const GENERATE = 'node ~/generate.cjs';

/**
 * A changes a.txt. B is refused that file, then makes one with its file tool and one with a program. Each tries to commit
 * everything while the other's work is uncommitted, then types the command of the refusal. Gates keep this order: a step
 * waits until the other session's step before it, including hooks, is over.
 */
export async function shareTree(first: Hands, second: Hands): Promise<Shared> {
  return play(await sharedWorld([first, second]), first, second);
}

/** A repository whose user has these clients and a git hook of their own. */
export async function sharedWorld(hands: readonly Hands[]): Promise<World> {
  const world = await createWorld();
  onTestFinished(() => world.remove());
  const hook = path.join(world.repository, '.git', 'hooks', 'post-commit');
  writeFileSync(hook, `#!/bin/sh\ngit log -1 --format=%H >>'${ownHookLog(world)}'\n`);
  chmodSync(hook, 0o755);
  const program = "require('fs').writeFileSync('made.txt', 'made by B\\n');\n";
  writeFileSync(path.join(world.home, 'generate.cjs'), program);
  await world.output('git config user.name Dev && git config user.email dev@example.com');
  for (const hand of hands) hand.prepare(world);
  const clients = [...new Set(hands.map(({ client }) => client))];
  await world.output(`git handoff init --yes --client ${clients.join(',')}`);
  for (const hand of hands) await hand.trust(world);
  return world;
}

/** Where the repository's own hook notes the commits that it has seen. */
export function ownHookLog({ home }: World): string {
  return path.join(home, 'own-hook.log');
}

async function play(world: World, first: Hands, second: Hands): Promise<Shared> {
  const gates = createGates();
  const byA = { from: 'hello', to: 'hello of A' };
  const byB = { from: byA.to, to: 'hello of B' };
  const changeA = first.change(world, 'a.txt', byA, { opens: 'A is there', waitsFor: 'B is there' });
  const changeB = second.change(world, 'a.txt', byB, { opens: 'B is there', waitsFor: 'A has written' });
  const [a, b] = await bothEnded(
    first.run(world, { turns: [...changeA, ...endOf('A', 'B', first)] }, gates),
    second.run(
      world,
      {
        turns: [
          ...changeB,
          ...second.create(world, 'b.txt', 'made by B'),
          second.shell(GENERATE),
          ...endOf('B', 'A', second),
        ],
      },
      gates,
    ),
  );
  const [denied = ''] = b.outputs.slice(changeB.length - 1);
  return { world, a: { ...a, ...answersOf(a) }, b: { ...b, ...answersOf(b), denied } };
}

/** Waits for both runs even if one fails: the test removes the world, and no client may still be at work in it. */
export async function bothEnded(...runs: [Promise<HandRun>, Promise<HandRun>]): Promise<[HandRun, HandRun]> {
  await Promise.allSettled(runs);
  return Promise.all(runs);
}

/** The turns that end a session's script. A goes first; both are refused before either commits. */
function endOf(who: 'A' | 'B', other: 'A' | 'B', hands: Hands): Turn[] {
  const isFirst = who === 'A';
  return [
    hands.shell(commitAll(who), {
      opens: `${who} has written`,
      waitsFor: isFirst ? 'B has written' : 'A was refused',
    }),
    hands.shell(NEXT_COMMAND, {
      opens: `${who} was refused`,
      waitsFor: isFirst ? 'B was refused' : 'A has committed',
    }),
    hands.shell(WORK_ON, { opens: `${who} has committed`, waitsFor: `${other} has committed` }),
    say('done', { opens: `${who} is over`, waitsFor: `${other} is over` }),
  ];
}

function answersOf({ outputs }: HandRun): Answers {
  const [refused = '', followed = ''] = outputs.slice(-3);
  return { refused, followed };
}

/** Expects the refusal of a commit that would have included the other's files. */
export function expectRefusal(hands: Hands, text: string, other: string, paths: readonly string[]): void {
  if (hands.client === 'gemini') {
    expect(text).toContain(short(other));
    expect(text).toContain('git handoff commit -m ');
    return;
  }
  for (const path of paths) {
    expect(text).toContain(`${path}: `);
    expect(text).toContain(`${short(other)} changed it just now and has not committed it`);
  }
}

/** A commit as git shows it. */
export interface Made {
  readonly oid: string;
  /** Sorted. */
  readonly paths: readonly string[];
  /** What its `Claude-Session-Id` trailers say. */
  readonly sessions: readonly string[];
  /** The message without its trailers. */
  readonly message: string;
}

/** The commits after the first one, oldest first. */
export async function historyOf(world: World): Promise<Made[]> {
  const oids = linesOf(await world.output('git rev-list --reverse HEAD')).slice(1);
  return Promise.all(
    oids.map(async (oid) => {
      const shown = (format: string): Promise<string> =>
        world.output(`git log -1 --format='${format}' ${oid}`);
      const [paths, sessions, body, trailers] = await Promise.all([
        world.output(`git diff-tree -r --no-commit-id --name-only ${oid}`),
        shown('%(trailers:key=Claude-Session-Id,valueonly)'),
        shown('%B'),
        shown('%(trailers)'),
      ]);
      const message = body.trim().replace(trailers.trim(), '').trim();
      return { oid, paths: linesOf(paths).sort(), sessions: linesOf(sessions), message };
    }),
  );
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
