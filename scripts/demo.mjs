/**
 * `npm run demo`: plays the main job of git-handoff in a temporary repository, with real git and real
 * processes, and keeps the repository for you to look around. Exit status 1 if anything is not as it should be.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stage, Unmet, expect, print, quote, say } from './demo/stage.mjs';

const stage = new Stage();
const { project, home } = stage;

async function setUp() {
  say('A throw-away repository, with a home folder of its own.');
  const { status } = await stage.type(
    "git init -q -b main . && git config user.name 'Demo' && git config user.email demo@example.com",
  );
  expect(status === 0, 'git init works');
  await stage.type("echo 'the project' > README && git add README && git commit -q -m 'Begin'");
  say('Switch git-handoff on. At a terminal it asks first.');
  const init = await stage.type('git handoff init --yes');
  expect(init.output.endsWith('done\n'), 'init does its plan');
  stage.hooksAreMade();
}

async function arrive(a, b) {
  say('Two Claude Code sessions start in this clone (stand-ins that fire the hooks which init registered).');
  expect((await a.start()).includes(`you are claude ${a.short} on main`), 'A is told who it is');
  expect(
    (await b.start()).includes(`claude ${a.short} is live in this worktree`),
    'B is told that A is at work',
  );
}

async function commits(a, b) {
  say('A and B each change a file. B commits all there is.');
  await a.type("echo 'retries: 3' > retry.yml");
  await b.type("echo 'limit: 60' > limit.yml");
  const swept = await b.type("git add -A && git commit -m 'Limit the rate'");
  expect(swept.status === 1 && swept.output.includes(`retry.yml: claude ${a.short}`), 'B is refused');
  const [, hint = ''] = /^hint: (.*)$/m.exec(swept.output) ?? [];
  say('It is refused, and the hint says how B commits only its own change.');
  const own = await b.type(hint);
  expect(
    own.status === 0 && /^committed [0-9a-f]{7}:\n {2}limit\.yml$/m.test(own.output),
    "the hint commits B's change",
  );

  say("A's change is still there, for A to commit. Commits name their session.");
  const committed = await a.type(
    "git add retry.yml && git commit -q -m 'Try three times' && git log -1 --format=%B",
  );
  expect(committed.output.includes(`Claude-Session-Id: ${a.id}`), 'the commit carries the trailer');
}

async function notes(a, b) {
  say('A leaves a note. Nobody types an id: the owner is the session in whose process tree this runs.');
  const first = await a.type(
    "git handoff write auth-refresh -m 'Token refresh works. The retry test is still red.'",
  );
  expect(/^left main\/auth-refresh \([0-9a-f]{7}\)\n$/.test(first.output), 'A writes the note');

  say('B knows nothing of A and writes the same note. The write is refused, and its text is kept.');
  const text = 'Retry test is green. Next: the rate limit.';
  const refused = await b.type(`git handoff write auth-refresh -m '${text}'`);
  expect(refused.status === 3 && refused.output.includes(a.short), 'B is refused and told of A');
  const kept = await b.type('git handoff show main/auth-refresh --lost=1');
  expect(kept.output === `${text}\n`, "B's text is kept");

  say('While A works, B may not take the note. The hint writes the kept text into another note.');
  const [, hint = ''] = /^hint: (.*)$/m.exec(refused.output) ?? [];
  expect((await b.type(hint)).status === 0, 'the hint leaves another note');

  say("A's turn ends. B reads A's note, takes it over, and writes the kept text.");
  await a.stop();
  expect((await b.type('git handoff show auth-refresh')).output.includes('still red'), "B reads A's note");
  expect((await b.type('git handoff take main/auth-refresh')).status === 0, 'B takes the note');
  const second = await b.type('git handoff show main/auth-refresh --lost=1 | git handoff write auth-refresh');
  expect(second.status === 0, 'B writes as the owner');

  say('Now it is A that is refused.');
  const late = await a.type("git handoff write auth-refresh -m 'One more thought.'");
  expect(late.status === 3 && late.output.includes(b.short), 'A is refused and told of B');

  say('The log has every version, and the take.');
  const log = await a.type('git handoff log auth-refresh');
  expect(
    log.output.includes(`take from claude ${a.short}`) && log.output.split('\n').length === 4,
    'the log is whole',
  );
  return log.output.trim().split('\n').at(-1).split(' ')[0];
}

async function markerFile(a, b) {
  say(
    "Handoff files in Claude Code's memory folder belong to the session that line 1 names.",
    'A writes one and forgets that line: the guard puts it in.',
  );
  const folder = join(home, '.claude', 'projects', project.replace(/[/\\.]/g, '-'), 'memory');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'handoff-main-auth-refresh.md');
  await a.write(file, 'Read the retry test first.\n');
  const owned = `<!-- claude-session: ${a.id} -->\nRead the retry test first.\n`;
  expect(readFileSync(file, 'utf8') === owned, "A's file carries its marker");

  say('B tries to change it: with Write, with Edit, with a redirection.');
  const tries = [
    await b.write(file, 'All done, nothing to read.\n'),
    await b.edit(file, 'Read', 'Skip'),
    await b.type(`echo 'see my note' >> ${quote(file)}`),
  ];
  expect(
    tries.every(({ denied }) => denied?.includes(a.short)),
    'every change by B is refused, with the name of A',
  );
  expect(readFileSync(file, 'utf8') === owned, "A's file is untouched");
}

async function byHand(b, first) {
  const ref = 'refs/handoffs/main/auth-refresh';
  say('Only git handoff may move its refs. B tries git itself:');
  const { denied } = await b.type(`git update-ref ${ref} ${first}`);
  expect(denied?.includes(ref), 'the guard refuses to let B move the ref');

  say(
    'A person at a terminal is not guarded. The next command notices that the ref was moved, and ignores it.',
  );
  await stage.type(`git update-ref ${ref} ${first}`);
  const shown = await stage.type('git handoff show auth-refresh');
  expect(shown.output.includes('Retry test is green'), 'the true note is still shown');
  expect(shown.output.includes("was moved behind git-handoff's back"), 'the move is told');
  const doctor = await stage.type('git handoff doctor --fix');
  expect(doctor.status === 0 && /^fixed +refs/m.test(doctor.output), 'doctor --fix puts the ref back');
  expect(
    (await stage.type(`git log -1 --format=%s ${ref}`)).output.startsWith('Retry test'),
    'the ref is back',
  );
}

async function lookAround(a) {
  say(
    'Both sessions are at work. All notes are plain git objects under refs/handoffs, not in the working tree.',
  );
  const who = await a.type('git handoff sessions');
  expect(who.output.split('\n').filter((line) => / live /.test(line)).length === 2, 'both sessions are live');
  expect((await a.type('git status --short')).output === '', 'git status is clean');
  await a.type("git for-each-ref --format='%(objecttype) %(refname)'");
}

function farewell(failure) {
  for (const line of failure === undefined ? ['All as it should be.'] : [`FAILED: ${failure}`]) say(line);
  // The log has whatever the guard could not judge, with the reason.
  const log = join(project, '.git', 'handoff', 'guard.log');
  if (failure !== undefined && existsSync(log)) print(readFileSync(log, 'utf8'));
  print(`The repository is left for you to look around in. Type:

  export HOME=${quote(home)}
  export PATH=${quote(stage.bin)}:"$PATH"
  cd ${quote(project)}
  git handoff list
  git handoff log auth-refresh
  git handoff write auth-refresh -m 'my own note'     # you are neither A nor B: refused
  git cat-file -p refs/handoffs/main/auth-refresh:handoff.md
  git handoff sessions --all

and when you have seen enough, in a new shell:

  rm -rf ${quote(stage.folder)}
`);
}

try {
  await setUp();
  const a = stage.session('A', 'a1f0c3d2-6b7e-4c58-9d21-0e5f7a8b9c10');
  const b = stage.session('B', 'b7d94e06-13ac-4f8e-8a52-c4d6e8f0a2b4');
  await arrive(a, b);
  await commits(a, b);
  const first = await notes(a, b);
  await markerFile(a, b);
  await byHand(b, first);
  await lookAround(a);
  await a.end();
  await b.end();
  farewell();
} catch (error) {
  farewell(error instanceof Unmet ? error.message : error.stack);
  process.exitCode = 1;
} finally {
  stage.endSessions();
}
