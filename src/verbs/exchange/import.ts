import { relative } from 'node:path';
import { Failure, type FailureCode } from '../../domain/failure.ts';
import type { Format } from '../../domain/formats/detect.ts';
import { type BranchName, type Topic, parseBranchName, parseTopic } from '../../domain/names.ts';
import { decideSecrets, formatAllowed, type SecretScan } from '../../domain/secrets/verdict.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { readSettings } from '../../git/config.ts';
import { listRefs } from '../../git/refs.ts';
import { branchTip, committer, objectFormat, topLevel } from '../../git/repository.ts';
import { homeFolder } from '../../host/folders.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import { looksLike } from '../../notes/secrets/check-note.ts';
import { findSecrets } from '../../notes/secrets/find-secrets.ts';
import { type TopicState, readTopics } from '../../notes/topic.ts';
import { type Context, findCaller } from '../../sessions/caller.ts';
import type { CommandResult } from '../result.ts';
import type { ImportShape } from '../shapes.ts';
import { type Workspace, judgedSessions, openWorkspace } from '../workspace.ts';
import { type Outcome, applyPlan } from './import/apply.ts';
import type { Draft, ImportWorld, Interpreted, UnimportedFile } from './import/draft.ts';
import { type Findings, findFiles } from './import/find-files.ts';
import { interpret } from './import/interpret.ts';
import {
  type PlannedNote,
  type ImportRefusal,
  inWritingOrder,
  planNotes,
  type ScannedDraft,
} from './import/plan.ts';
import { interpretStructured } from './import/structured.ts';

interface ImportOptions {
  /** Files and folders; none: the predecessors' places for this project. */
  readonly paths: readonly string[];
  readonly from: Format | undefined;
  readonly dryRun: boolean;
  readonly branch: string | undefined;
  readonly topic: string | undefined;
  /** What looks like a secret in the notes is none. */
  readonly allowSecret: boolean;
  readonly session: string | undefined;
  /** Shows the plan before anything is written. */
  readonly announce: ((plan: readonly ImportShape[]) => Promise<void>) | undefined;
}

export interface ImportValue {
  readonly dryRun: boolean;
  readonly items: readonly ImportShape[];
}

/**
 * Imports notes of other programs: finds the files, says what goes where, writes. What cannot be imported does not
 * keep the rest from being; the result's failure says so.
 *
 * @throws Failure `not-found` where there is nothing at all, `usage` for a path that holds no notes.
 */
export async function importNotes(
  options: ImportOptions,
  context: Context,
): Promise<CommandResult<ImportValue>> {
  const { cwd } = context;
  const [workspace, states, author, settings] = await Promise.all([
    openWorkspace(context),
    readTopics({ cwd }),
    committer(cwd),
    readSettings(cwd),
  ]);
  const { repository, sessions } = workspace;
  const caller = findCaller(context, sessions, options.session, author);
  const world = await openWorld(workspace, options, context);
  const found = findFiles(options.paths, options.from, world);
  const { drafts, skipped } = await interpretAll(found, world);
  requireSomething(found, drafts, skipped, options);
  const judged = judgedSessions(workspace, settings, context.now);
  const live = new Set<string>(
    judged.filter(({ liveness }) => liveness === 'live').map(({ record }) => record.session),
  );
  const known = states.find(({ tip }) => tip !== undefined)?.tip?.oid;
  const format = await objectFormat(repository, known);
  const { scan, warnings } = draftScan(options, settings.secretScan);
  const facts = { repository, caller, states, live, format, explicit: isPlaced(options), scan };
  const plan = await planNotes(inWritingOrder(drafts), facts);
  const shown = (outcomes?: readonly Outcome[]) => [
    ...plan.map((planned, at) => noteItem(planned, outcomes?.[at], cwd)),
    ...skipped.map((file) => skippedItem(file, cwd)),
  ];
  if (options.dryRun)
    return finish(
      shown(),
      true,
      plan.map(({ refusal }) => refusal),
      skipped,
      [...workspace.notices, ...warnings],
    );
  await options.announce?.(shown());
  const outcomes = await applyPlan(plan, { repository, caller, author, now: context.now });
  const before = outcomes.flatMap((outcome) => outcome.before ?? ([] as TopicState[]));
  const notices = [
    ...workspace.notices,
    ...warnings,
    ...(await reportIllegalMoves(repository, before, context.now)),
  ];
  return finish(
    shown(outcomes),
    false,
    outcomes.map(({ refusal }) => refusal),
    skipped,
    notices,
  );
}

/** Whether the command line says where the notes go. */
function isPlaced({ branch, topic }: ImportOptions): boolean {
  return branch !== undefined || topic !== undefined;
}

async function openWorld(
  { repository }: Workspace,
  options: ImportOptions,
  context: Context,
): Promise<ImportWorld> {
  const [refs, top] = await Promise.all([listRefs(repository, ['refs/heads/']), topLevel(repository)]);
  const branches = refs.flatMap(({ name }) => parseBranchName(name.slice('refs/heads/'.length)) ?? []);
  if (!branches.includes(repository.branch) && repository.branch !== 'HEAD') branches.push(repository.branch);
  return {
    repository,
    top,
    branches,
    branch: await requiredBranch(options.branch, repository, branches),
    topic: requiredTopic(options.topic),
    home: homeFolder(context.env),
    env: context.env,
    now: context.now,
  };
}

async function requiredBranch(
  text: string | undefined,
  repository: Workspace['repository'],
  branches: readonly BranchName[],
): Promise<BranchName | undefined> {
  if (text === undefined) return undefined;
  const branch = parseBranchName(text);
  const exists =
    branch !== undefined &&
    (branches.includes(branch) || (await branchTip(repository, branch)) !== undefined);
  if (branch !== undefined && exists) return branch;
  const hint = branch === undefined ? 'git branch --list' : `git branch ${shellWord(branch)}`;
  throw new Failure('usage', `there is no branch ${escapeLine(text)}`, { hint });
}

function requiredTopic(text: string | undefined): Topic | undefined {
  if (text === undefined) return undefined;
  const topic = parseTopic(text);
  if (topic !== undefined) return topic;
  throw new Failure('usage', `not a topic: ${escapeLine(JSON.stringify(text))}`, {
    hint: 'a topic is two or more lower-case words joined by "-", for example: auth-refresh',
  });
}

async function interpretAll(
  { files, skipped }: Findings,
  world: ImportWorld,
): Promise<{ drafts: Draft[]; skipped: UnimportedFile[] }> {
  const structured = files.filter(({ format }) => format === 'structured');
  const read: Interpreted[] = interpretStructured(structured, world);
  for (const file of files) {
    if (file.format !== 'structured') read.push(await interpret(file, world));
  }
  return {
    drafts: read.flatMap((one) => ('draft' in one ? [one.draft] : [])),
    skipped: [...skipped, ...read.flatMap((one) => ('skipped' in one ? [one.skipped] : []))],
  };
}

function requireSomething(
  { places }: Findings,
  drafts: readonly Draft[],
  skipped: readonly UnimportedFile[],
  { topic }: ImportOptions,
): void {
  if (topic !== undefined && drafts.length > 1) {
    throw new Failure('usage', `--topic is for one file, and ${drafts.length} were found`, {
      hint: 'git handoff import --dry-run',
    });
  }
  if (drafts.length > 0 || skipped.length > 0) return;
  const where = places.length === 0 ? 'there' : `at ${places.map(escapeLine).join(', ')}`;
  throw new Failure('not-found', `no notes to import were found ${where}`, {
    hint: 'git handoff import <path>...',
  });
}

function noteItem(
  { draft, placement, as, refusal, incoming }: PlannedNote,
  outcome: Outcome | undefined,
  cwd: string,
): ImportShape {
  const refused = outcome === undefined ? refusal : outcome.refusal;
  const known = 'known' in placement ? placement.known : undefined;
  const action = placement.kind === 'not-owner' || placement.kind === 'no-name' ? 'refuse' : placement.kind;
  return {
    file: shownPath(draft.file.path, cwd),
    format: draft.file.format,
    action: refused === undefined ? action : 'refuse',
    branch: known?.branch ?? incoming.branch,
    // A topic that was made of the text may spell the secret.
    topic:
      refused?.code === 'secret'
        ? null
        : placement.kind === 'create'
          ? placement.topic
          : (known?.topic ?? incoming.topic),
    owner: as,
    state: placement.kind === 'unchanged' ? placement.known.state : draft.state,
    to: draft.to ?? null,
    oid: outcome?.oid ?? null,
    why: refused?.why ?? draft.remark ?? null,
  };
}

function skippedItem({ path, format, why, code }: UnimportedFile, cwd: string): ImportShape {
  const action = code === undefined ? 'skip' : 'refuse';
  const nothing = { branch: null, topic: null, owner: null, state: null, to: null, oid: null };
  return { file: shownPath(path, cwd), format, action, ...nothing, why };
}

/** Files of the working tree by their way from here, others whole. */
function shownPath(path: string, cwd: string): string {
  const way = relative(cwd, path);
  return way.startsWith('..') || !path.startsWith('/') ? path : way;
}

/** What decides the exit status, the worst first. */
const WORST: readonly FailureCode[] = ['integrity', 'not-owner', 'lost-race', 'usage', 'secret'];

function finish(
  items: readonly ImportShape[],
  dryRun: boolean,
  refusals: readonly (ImportRefusal | undefined)[],
  skipped: readonly UnimportedFile[],
  notices: readonly string[],
): CommandResult<ImportValue> {
  const wrong = skipped.flatMap(({ path, why, code, hint }) =>
    code === undefined
      ? []
      : [{ code, why: `${escapeLine(path)}: ${why}`, hint: hint ?? hintFor(code, path) }],
  );
  const all = [...refusals.flatMap((refusal) => refusal ?? ([] as ImportRefusal[])), ...wrong];
  const worst = WORST.map((code) => all.find((one) => one.code === code)).find((one) => one !== undefined);
  const value = { dryRun, items };
  if (worst === undefined) return { value, notices };
  const rest = all.length === 1 ? '' : ` (and ${all.length - 1} more)`;
  const message = `not everything ${dryRun ? 'would be' : 'was'} imported: ${worst.why}${rest}`;
  return { value, notices, failure: new Failure(worst.code, message, { hint: worst.hint }) };
}

/** A note whose id is wrong can still be had, as a text that claims nothing. */
function hintFor(code: FailureCode, path: string): string {
  const word = shellWord(path);
  return code === 'integrity' ? `git handoff import --from markdown -- ${word}` : `ls -ld -- ${word}`;
}

/** What the command line said that a repeated one must say, too. */
interface ScanOptions {
  readonly allowSecret: boolean;
  readonly branch: string | undefined;
  readonly topic: string | undefined;
}

/** The look for secrets of one import, and what it only warns of. */
function draftScan(options: ScanOptions, scan: SecretScan) {
  const warnings: string[] = [];
  return { scan: (draft: Draft) => scanDraft(draft, options, scan, warnings), warnings };
}

async function scanDraft(
  { note, file }: Draft,
  options: ScanOptions,
  scan: SecretScan,
  warnings: string[],
): Promise<ScannedDraft> {
  const verdict = decideSecrets(await findSecrets(note), options.allowSecret ? 'all' : [], scan);
  if (verdict.kind === 'allowed') return { refusal: undefined, allowed: formatAllowed(verdict.rules) };
  if (verdict.kind === 'clean') return { refusal: undefined, allowed: undefined };
  const why = `${escapeLine(file.path)}: ${looksLike(verdict.findings)}`;
  if (verdict.kind === 'warn') {
    warnings.push(why);
    return { refusal: undefined, allowed: undefined };
  }
  const option = (name: string, value: string | undefined) =>
    value === undefined ? '' : ` --${name} ${shellWord(value)}`;
  const place = option('branch', options.branch) + option('topic', options.topic);
  const again = `git handoff import --allow-secret --from ${file.format}${place} -- ${shellWord(file.path)}`;
  const hint = `take it out of the file, or, if it is not a secret: ${again}`;
  return { refusal: { code: 'secret', why, hint }, allowed: undefined };
}
