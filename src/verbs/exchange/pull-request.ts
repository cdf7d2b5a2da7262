import { Failure } from '../../domain/failure.ts';
import { type PullRequest, describeWork } from '../../domain/pull-request/pull-request.ts';
import { decideSecrets, parseAllowed } from '../../domain/secrets/verdict.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { listBranches } from '../../git/branches.ts';
import { commitNamed, type LoadedCommit, loadCommits } from '../../git/commits.ts';
import { readSettingEntries, readSettings } from '../../git/config.ts';
import { encodeBranch } from '../../git/namespace.ts';
import { type Repository, branchTip } from '../../git/repository.ts';
import { type OwnRange, ownMessages, sinceFork } from '../../git/log.ts';
import { TARGET_KEYS, type TargetBranch, findTargets } from '../../git/target-branches.ts';
import { byAge } from '../../notes/find-topic.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import { looksLike } from '../../notes/secrets/check-note.ts';
import { findSecrets } from '../../notes/secrets/find-secrets.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import { readTopics } from '../../notes/topic.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CommandResult } from '../result.ts';
import { openWorkspace } from '../workspace.ts';

/** How many notes of a branch are read. */
const MAX_NOTES = 30;

/** The `--json` answer. */
interface PullRequestValue {
  readonly title: string;
  readonly body: string;
  readonly branch: string;
  /** The target branch. */
  readonly base: string;
}

/** A note that the text was made from. */
interface UsedNote {
  readonly name: string;
  readonly commit: LoadedCommit;
  readonly text: Buffer;
}

/**
 * Makes the title and the body of a pull request from the commits of this branch and its notes.
 *
 * @throws Failure `not-found` if there is nothing to describe, `secret` if the text looks like it contains one
 */
export async function exportPullRequest(
  { title: onlyTitle }: { readonly title: boolean },
  context: Context,
): Promise<CommandResult<PullRequestValue>> {
  const { repository, sessions, notices } = await openWorkspace(context);
  const { cwd, branch } = repository;
  const target = await targetOf(repository, context);
  const range = await rangeOf(repository, target);
  const commits = range === undefined ? [] : await ownMessages(cwd, range);
  if (range === undefined || commits.length === 0) {
    throw new Failure(
      'not-found',
      `${escapeLine(branch)} has no commit that ${escapeLine(target.name)} lacks`,
      {
        hint: 'git handoff status',
      },
    );
  }
  const states = await readTopics(repository, encodeBranch(branch));
  const moved = await reportIllegalMoves(repository, states, context.now);
  const notes = await loadNotes(cwd, states, range);
  const told = [...notices, ...moved, ...(await refuseSecrets(cwd, commits, notes))];
  const trailers = notes.flatMap(({ commit }) => commit.trailers ?? []);
  const request = describeWork({
    branch,
    messages: commits.map(({ message }) => message),
    notes: notes.map(({ text, commit }) => ({
      text: text.toString('utf8'),
      isOpen: commit.trailers?.state === 'open',
    })),
    sessions: [
      ...sessions.map(({ record }) => record.session),
      ...trailers.flatMap(({ owner, takenFrom, succeeds }) =>
        [owner, takenFrom ?? [], succeeds ?? []].flat(),
      ),
      ...commits.flatMap(({ message }) => sessionsNamed(message)),
    ],
  });
  const text = onlyTitle ? request.title : request.body;
  return {
    value: { title: request.title, body: request.body, branch, base: baseName(target) },
    notices: onlyTitle ? told : [...told, ...lacking(request)],
    bytes: Buffer.from(`${text.trimEnd()}\n`),
    ...(onlyTitle ? {} : { hint: createCommand(target) }),
  };
}

/** `gh` finds the base itself if it is the default branch, or one that `gh` recorded in the configuration. */
function createCommand(target: TargetBranch): string {
  const base = target.isDefault ? '' : ` --base ${shellWord(baseName(target))}`;
  const title = '"$(git handoff export --format pr --title)"';
  return `git handoff export --format pr | gh pr create${base} --title ${title} --body-file -`;
}

/** The target's name on its remote. */
function baseName({ ref, name }: TargetBranch): string {
  return ref.startsWith('refs/remotes/') ? name.slice(name.indexOf('/') + 1) : name;
}

function lacking({ lacks }: PullRequest): string[] {
  if (lacks.length === 0) return [];
  return [`no note of this branch says ${lacks.join(' or ')}; git handoff write adds it`];
}

async function targetOf({ cwd, branch }: Repository, { budget }: Context): Promise<TargetBranch> {
  if (branch === 'HEAD') {
    throw new Failure('not-found', 'HEAD is detached; a pull request is made from a branch', {
      hint: 'git switch -c <branch>',
    });
  }
  const limits = { timeoutMs: budget.left() };
  const [branches, settings] = await Promise.all([
    listBranches(cwd, { ...limits, with: 'upstreams' }),
    readSettingEntries(`^(${TARGET_KEYS})$`, cwd, limits.timeoutMs),
  ]);
  const target = (await findTargets(cwd, [branch], branches, settings)).get(branch);
  if (target !== undefined) return target;
  throw new Failure('not-found', `there is no branch here that ${escapeLine(branch)} will be merged into`, {
    hint: `git config ${shellWord(`branch.${branch}.gh-merge-base`)} <branch>`,
  });
}

/** The tracking ref counts as well: a branch that was rebased onto it is ahead of the local target. */
async function rangeOf(
  { cwd, branch }: Repository,
  { name, commit }: TargetBranch,
): Promise<OwnRange | undefined> {
  const [tip, remote] = await Promise.all([
    branchTip({ cwd }, branch),
    commitNamed(cwd, `refs/remotes/origin/${name}`),
  ]);
  return tip === undefined ? undefined : { tip, targets: remote === undefined ? [commit] : [commit, remote] };
}

/**
 * Notes that somebody wrote: open ones, then closed ones, each newest first. A closed note whose base the target already had
 * when the branch left it belongs to an earlier pull request.
 */
async function loadNotes(
  cwd: string,
  states: Awaited<ReturnType<typeof readTopics>>,
  range: OwnRange,
): Promise<UsedNote[]> {
  const written = states.flatMap((state) => {
    const trailers = state.tip?.trailers;
    if (trailers === undefined || trailers.automatic !== undefined) return [];
    return [{ state, isClosed: trailers.state === 'closed', base: trailers.base }];
  });
  const bases = written.flatMap(({ isClosed, base }) => (isClosed ? (base ?? []) : []));
  const ours = await sinceFork(cwd, range, bases);
  const used = written
    .filter(({ isClosed, base }) => !isClosed || base === undefined || ours.has(base))
    .sort((a, b) => Number(a.isClosed) - Number(b.isClosed) || byAge(a.state, b.state))
    .slice(0, MAX_NOTES);
  const commits = await loadCommits(
    { cwd },
    used.flatMap(({ state }) => state.tip?.oid ?? []),
    { notes: true },
  );
  return commits.flatMap((commit, at) => {
    const state = used[at]?.state;
    if (commit?.note === undefined || state === undefined) return [];
    return [{ name: typedTopic(state.branch, state.topic), commit, text: commit.note }];
  });
}

/**
 * Applies the rules of a push: a note's own commit may allow a finding. Returns the findings that
 * `handoff.secretScan = warn` lets through.
 */
async function refuseSecrets(
  cwd: string,
  commits: readonly { readonly oid: string; readonly message: string }[],
  notes: readonly UsedNote[],
): Promise<string[]> {
  const sources = [
    ...notes.map(({ name, text, commit }) => ({
      what: name,
      bytes: text,
      allowed: parseAllowed(commit.trailers?.secretAllowed),
      look: `git handoff show ${name}`,
      allow: `git handoff export ${name} --raw | git handoff write ${name} --file - --allow-secret`,
    })),
    ...commits.map(({ oid, message }) => ({
      what: `the message of ${oid.slice(0, 12)}`,
      // Of several commits, only the subjects are used.
      bytes: Buffer.from(commits.length === 1 ? message : message.trimStart().replace(/\n[^]*/, '')),
      allowed: [],
      look: `git show --no-patch ${oid.slice(0, 12)}`,
      allow: 'git -c handoff.secretScan=warn handoff export --format pr',
    })),
  ];
  const warnings: string[] = [];
  for (const { what, bytes, allowed, look, allow } of sources) {
    const findings = await findSecrets(bytes);
    if (findings.length === 0) continue;
    const verdict = decideSecrets(findings, allowed, (await readSettings(cwd)).secretScan);
    if (verdict.kind === 'warn') warnings.push(`${what}: ${looksLike(verdict.findings)}`);
    if (verdict.kind !== 'refuse') continue;
    const hint = `${look}; if it is not a secret: ${allow}`;
    throw new Failure('secret', `nothing was printed; ${what}: ${looksLike(verdict.findings)}`, { hint });
  }
  return warnings;
}

function sessionsNamed(message: string): string[] {
  return [...message.matchAll(/^[ \t]*Claude-Session-Id[ \t]*:[ \t]*(\S{4,128})/gim)].flatMap(
    ([, id]) => id ?? [],
  );
}
