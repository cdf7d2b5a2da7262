/**
 * A stand-in for joshduffy/claude-handoff-guard, written from its documented rules (docs/comparison.md): one writer for each
 * handoff file in the client's memory folder, and no commit that contains two sessions' handoff files. It checks nothing else,
 * and a failure of its own refuses nothing. This file is both its adapter and the program that its hooks start:
 *
 *   node handoff-guard.mjs write|start|stop|commit
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NAME = /^handoff-[a-z0-9]+-[a-z0-9]+(?:-[a-z0-9]+)+\.md$/;
const HANDOFF = /\/projects\/[^/]+\/memory\/(handoff-[a-z0-9-]+\.md)$/;
const IN_SHELL =
  /(?:>{1,2}|tee\b|sed\s+-i)\s*[^|;&]*?(\S*?\/projects\/[^\s|;&"']+\/memory\/handoff-[a-z0-9-]+\.md)/;
const COMMITTED = /^projects\/[^/]+\/memory\/(?:handoff-archive\/)?handoff-[a-z0-9-]+\.md$/;
const TOOLS = {
  Write: 'write',
  write_file: 'write',
  Edit: 'edit',
  replace: 'edit',
  Bash: 'shell',
  run_shell_command: 'shell',
};
const STOPWORDS = 'fix feat chore docs refactor test main master the and for a'.split(' ');

const ownerIn = (text) => /^<!--\s*claude-session:\s*(\S+)\s*-->/.exec(text.split('\n')[0])?.[1];
const markerOf = (id) => `<!-- claude-session: ${id} -->`;
const memoryOf = (home, cwd) => join(home, '.claude', 'projects', cwd.replace(/[/\\.]/g, '-'), 'memory');
const handoffsIn = (folder) =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => /^handoff-.*\.md$/.test(name))
        .sort()
    : [];
const short = (id) => id.slice(0, 8);

/** @type {import('../adapter.mjs').Adapter} */
export const adapter = {
  name: 'handoff-guard',
  install(world) {
    const hook = (what) => [
      { hooks: [{ type: 'command', command: `node ${fileURLToPath(import.meta.url)} ${what}` }] },
    ];
    const [write] = hook('write');
    const hooks = {
      PreToolUse: [{ matcher: 'Write|Edit|Bash', ...write }],
      SessionStart: hook('start'),
      Stop: hook('stop'),
    };
    writeFileSync(join(world.home, '.claude', 'settings.json'), JSON.stringify({ hooks }));
    const preCommit = join(world.primary, '.git', 'hooks', 'pre-commit');
    writeFileSync(preCommit, `#!/bin/sh\nexec node ${fileURLToPath(import.meta.url)} commit\n`);
    chmodSync(preCommit, 0o755);
  },
  refused: ({ stderr }) => stderr.includes('pre-commit blocked: '),
  commit: ({ message, paths }) =>
    `git add -- ${paths.join(' ')} && git commit -q -m '${message}' -- ${paths.join(' ')}`,
  note: ({ topic, text, id, checkout, world }) => ({
    path: join(memoryOf(world.home, checkout), `handoff-main-${topic}.md`),
    text: `${markerOf(id)}\n${text}\n`,
  }),
  readableNotes: (world, checkouts) =>
    checkouts
      .map((checkout) => memoryOf(world.home, checkout))
      .flatMap((folder) => handoffsIn(folder).map((name) => readFileSync(join(folder, name), 'utf8'))),
};

/** Why a call is refused, or a notice about an allowed call. @returns {{ block?: string, notice?: string }} */
function judgeWrite({ tool_name: tool, session_id: session = 'unknown', tool_input: input = {} }) {
  const kind = TOOLS[tool];
  const path = kind === 'shell' ? IN_SHELL.exec(input.command ?? '')?.[1] : kind && input.file_path;
  const [, name] = HANDOFF.exec(path ?? '') ?? [];
  if (name === undefined) return {};
  const bypass = join(tmpdir(), `handoff-guard-bypass-${name}`);
  if (existsSync(bypass)) return rmSync(bypass) ?? {};
  const override = `To override once: touch ${bypass}`;
  if (!NAME.test(name))
    return { block: `${name} must have a name like handoff-<branch>-<topic>-<more>.md. ${override}` };
  const former = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  const owner = former === undefined ? undefined : ownerIn(former);
  if (owner !== undefined && owner !== session) {
    const beside = `${name.slice(0, -3)}-cont.md`;
    return {
      block: `${name} belongs to another session, ${short(owner)}; yours is ${short(session)}. Write ${beside} instead and mention ${name} in it, or archive ${name} if it is stale.`,
    };
  }
  if (kind === 'edit' && former !== undefined && owner === undefined)
    return { block: `${name} has no owner. Put "${markerOf(session)}" on line 1 to take it. ${override}` };
  if (kind === 'write' && ownerIn(input.content ?? '') !== session)
    return { block: `Put this on line 1, then retry:\n  ${markerOf(session)}\n${override}` };
  if (kind === 'shell' && owner !== session)
    return { block: `Handoff files are not written by the shell: use the Write tool. ${override}` };
  return kind === 'write' && former === undefined ? noticeOf(name, dirname(path)) : {};
}

const topicOf = (name) =>
  name
    .slice('handoff-'.length, -3)
    .split('-')
    .filter((word) => !STOPWORDS.includes(word))
    .slice(0, 2)
    .join('-');

function noticeOf(name, folder) {
  const alike = handoffsIn(folder).filter((other) => topicOf(other) === topicOf(name));
  return alike.length === 0
    ? {}
    : { notice: `${alike.join(', ')} may be about the same topic. (The write is allowed.)` };
}

function start({ cwd }) {
  const folder = memoryOf(process.env.HOME, cwd);
  const lines = handoffsIn(folder).map((name) => {
    const owner = ownerIn(readFileSync(join(folder, name), 'utf8'));
    return `  - ${name}${owner === undefined ? '' : ` [session ${short(owner)}]`}`;
  });
  if (lines.length === 0) return undefined;
  const text = [
    `Handoffs of this project (${lines.length}):`,
    ...lines,
    'Read the one about your branch and task; the others are for information.',
  ];
  return { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: text.join('\n') } };
}

/** Reminds a session once if it stops with uncommitted work and no handoff. */
function stop({ cwd, session_id: session }) {
  const told = join(tmpdir(), `handoff-stop-gate-${session}`);
  const folder = memoryOf(process.env.HOME, cwd);
  const hasNote = handoffsIn(folder).some(
    (name) => ownerIn(readFileSync(join(folder, name), 'utf8')) === session,
  );
  if (existsSync(told) || hasNote || execFileSync('git', ['status', '--short'], { cwd }).length === 0)
    return undefined;
  writeFileSync(told, '');
  return { systemMessage: 'There is uncommitted work and no handoff. (Shown once.)' };
}

/** Refuses a commit if handoff files of several sessions are staged together. */
function commit() {
  const names = execFileSync('git', ['diff', '--cached', '--name-only', '--diff-filter=ACMR'], {
    encoding: 'utf8',
  }).split('\n');
  const owners = names
    .filter((name) => COMMITTED.test(name))
    .map((name) => ownerIn(execFileSync('git', ['show', `:${name}`], { encoding: 'utf8' })));
  const sessions = new Set(owners.filter((owner) => owner !== undefined));
  if (sessions.size < 2) return;
  console.error(
    `pre-commit blocked: handoffs of ${sessions.size} sessions are staged. git restore --staged those that are not yours.`,
  );
  process.exitCode = 1;
}

function main(what) {
  if (what === 'commit') return commit();
  if (process.env.HANDOFF_GUARD_BYPASS === '1') return undefined;
  const payload = JSON.parse(readFileSync(0, 'utf8'));
  if (what !== 'write') return answer(what === 'start' ? start(payload) : stop(payload));
  const { block, notice } = judgeWrite(payload);
  if (block !== undefined) return answer({ decision: 'block', reason: block });
  return answer(notice === undefined ? undefined : { systemMessage: notice });
}

const answer = (output) => (output === undefined ? undefined : process.stdout.write(JSON.stringify(output)));

if (basename(process.argv[1] ?? '') === basename(import.meta.filename ?? fileURLToPath(import.meta.url))) {
  try {
    main(process.argv[2]);
  } catch {
    // Fails open.
  }
}
