import { relative } from 'node:path';
import { Failure, type FailureCode } from '../../domain/failure.ts';
import {
  type IncomingNote,
  type KnownTopic,
  type Placement,
  candidates,
  decidePlacement,
  sourceName,
} from '../../domain/formats/placement.ts';
import type { Format } from '../../domain/formats/texts.ts';
import { recordState, summarise } from '../../domain/handoff.ts';
import { type BranchName, type Oid, type SessionId, type Topic, ownerName } from '../../domain/names.ts';
import { decideSecrets, formatAllowed, type SecretScan } from '../../domain/secrets.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { noteNames, wholeHistory } from '../../git/commits.ts';
import { readSettings } from '../../git/config.ts';
import { handoffPath } from '../../git/namespace.ts';
import { ObjectBatch } from '../../git/objects.ts';
import { type Committer, committer, objectFormat } from '../../git/repository.ts';
import { type WriteResult, commitHandoff } from '../../notes/handoffs.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import { looksLike, findSecrets } from '../../notes/secrets/check-note.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import { type TopicState, readTopics } from '../../notes/topic.ts';
import { type Caller, type Context, findCaller } from '../../sessions/caller.ts';
import { type Rendered, columns } from '../../ui/terminal.ts';
import { ownerText } from '../handoff-shape.ts';
import type { CommandResult } from '../verb.ts';
import type { ImportShape } from '../shapes.ts';
import { type Workspace, judgedSessions, openWorkspace } from '../workspace.ts';
import { type Draft, readDrafts } from './drafts.ts';
import { type UnimportedFile, findFiles, openWorld } from './find-files.ts';

interface ImportOptions {
  /** Files and folders; if empty, the places where other programs keep this project's notes. */
  readonly paths: readonly string[];
  readonly from: Format | undefined;
  readonly dryRun: boolean;
  readonly branch: string | undefined;
  readonly topic: string | undefined;
  /** Whether to import notes that look like they contain a secret. */
  readonly allowSecret: boolean;
  readonly session: string | undefined;
}

interface ImportValue {
  readonly dryRun: boolean;
  readonly items: readonly ImportShape[];
}

/** One pass over the files. Each note is compared with those in the topics, and written only if the tip has not moved since. */
interface Pass {
  readonly options: ImportOptions;
  readonly workspace: Workspace;
  readonly caller: Caller;
  readonly author: Committer;
  readonly secretScan: SecretScan;
  /** The sessions at work. */
  readonly live: ReadonlySet<string>;
  readonly objects: 'sha1' | 'sha256';
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The existing topics, and those that this pass wrote; `notes` is `undefined` until they are read. */
  readonly topics: (Omit<KnownTopic, 'notes'> & { readonly notes: readonly Oid[] | undefined })[];
  /** Each tip's note, by the tip's commit. */
  readonly tipNotes: ReadonlyMap<Oid, Oid>;
  readonly warnings: string[];
  /** The state before each write, to report refs that had been moved by hand. */
  readonly former: TopicState[];
}

/** The reason why a file that holds a note is not imported. */
interface Refusal {
  readonly code: FailureCode;
  readonly why: string;
  readonly hint: string;
}

/** What the import did with a note, or would do. */
interface Placed {
  readonly draft: Draft;
  readonly incoming: IncomingNote;
  readonly placement: Placement;
  /** The owner that the commit names. */
  readonly as: SessionId;
  readonly oid: Oid | undefined;
  readonly refusal: Refusal | undefined;
}

/**
 * Imports notes of other programs. A note that cannot be imported does not stop the others; the result's failure reports it.
 *
 * @throws Failure `not-found` when no notes were found, `usage` for a path that holds none.
 */
export async function importNotes(
  options: ImportOptions,
  context: Context,
): Promise<CommandResult<ImportValue>> {
  const { cwd, now } = context;
  const [workspace, states, author, settings] = await Promise.all([
    openWorkspace(context),
    readTopics({ cwd }),
    committer(cwd),
    readSettings(cwd),
  ]);
  const { repository, sessions } = workspace;
  const world = await openWorld(workspace.repository, options, context);
  const found = findFiles(options.paths, options.from, world);
  const { drafts, skipped: unread } = await readDrafts(found.files, world);
  const skipped = [...found.skipped, ...unread];
  requireSomething(found.places, drafts, skipped, options);
  const tips = states.flatMap(({ tip }) => tip?.oid ?? []);
  const judged = judgedSessions(workspace, settings, now);
  const pass: Pass = {
    options,
    workspace,
    caller: findCaller(context, sessions, options.session, author),
    author,
    secretScan: settings.secretScan,
    live: new Set(judged.flatMap(({ liveness, record }) => (liveness === 'live' ? record.session : []))),
    objects: await objectFormat(repository, tips[0]),
    now,
    topics: states.map(standing),
    tipNotes: await noteNames(repository, tips),
    warnings: [],
    former: [],
  };
  const placed: Placed[] = [];
  for (const draft of drafts) placed.push(await importOne(draft, pass));
  return finish(placed, skipped, options.dryRun, cwd, [
    ...workspace.notices,
    ...pass.warnings,
    ...(await reportIllegalMoves(repository, pass.former, now)),
  ]);
}

function requireSomething(
  places: readonly string[],
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

function standing({ branch, topic, tip }: TopicState): Pass['topics'][number] {
  const trailers = tip?.trailers;
  return {
    branch,
    topic,
    tip: tip?.oid,
    // A topic that cannot be read belongs to nobody, but its name is taken.
    owner: trailers?.owner ?? ('' as SessionId),
    state: trailers?.state ?? 'open',
    importedFrom: trailers?.importedFrom,
    notes: tip === undefined ? [] : undefined,
  };
}

async function importOne(draft: Draft, pass: Pass): Promise<Placed> {
  const { caller, options } = pass;
  const incoming = incomingNote(draft, pass);
  const related = await relatedTopics(incoming, draft, pass);
  const placement = decidePlacement(incoming, related, caller.id);
  const known = 'known' in placement ? placement.known : undefined;
  const as = known?.owner ?? incoming.owner;
  const refused = refusalOf(placement, incoming.topic, as, pass);
  const isNew = placement.kind === 'create' || placement.kind === 'update';
  const scanned = refused === undefined && isNew ? await scanDraft(draft, pass) : undefined;
  const refusal = refused ?? scanned?.refusal;
  const step = { draft, incoming, placement, as, oid: known?.tip, refusal };
  if (refusal !== undefined || placement.kind === 'unchanged') return step;
  const topic = placement.kind === 'create' ? placement.topic : (known?.topic ?? incoming.topic);
  const place = { branch: (known?.branch ?? incoming.branch) as BranchName, topic };
  const written = options.dryRun ? undefined : await write(step, place, scanned?.allowed, pass);
  const failed = written === undefined ? undefined : refusedBy(written, place);
  if (failed !== undefined) return { ...step, oid: undefined, refusal: failed };
  const { before, commit } = written?.kind === 'written' ? written : {};
  if (before !== undefined) pass.former.push(before);
  const oid = commit?.oid;
  const at = pass.topics.findIndex((one) => one.branch === place.branch && one.topic === topic);
  const { state, importedFrom, note } = incoming;
  const notes = [note, ...(known?.notes ?? [])];
  const made = { ...place, tip: oid ?? known?.tip, owner: as, state, importedFrom, notes };
  pass.topics.splice(at < 0 ? pass.topics.length : at, 1, made);
  return { ...step, oid };
}

function incomingNote(
  { branch, topic, owner, state, note, copyOf, file }: Draft,
  { caller, objects }: Pass,
): IncomingNote {
  const oid = new ObjectBatch(objects).blob(note);
  const importedFrom = sourceName(file.format, file.place);
  return { branch, topic, note: oid, owner: owner ?? caller.id, state, importedFrom, copyOf };
}

/** Returns the topics that a note may belong to, with their notes. A topic's variants (`auth-2`, ...) come after it. */
async function relatedTopics(
  incoming: IncomingNote,
  { file }: Draft,
  { topics, tipNotes, options, workspace }: Pass,
): Promise<KnownTopic[]> {
  const { cwd } = workspace.repository;
  // If the command line names the branch or topic, imports to others do not count.
  const byNameOnly =
    options.branch !== undefined || options.topic !== undefined || file.format === 'handover';
  const notesOf = async (tip: Oid) =>
    // Usually the tip has this very note, which saves reading its history.
    tipNotes.get(tip) === incoming.note
      ? [incoming.note]
      : [...(await noteNames({ cwd }, await wholeHistory({ cwd }, tip))).values()];
  const related = await Promise.all(
    candidates(incoming, topics, byNameOnly).map(async ({ notes, ...topic }) => ({
      ...topic,
      notes: notes ?? (topic.tip === undefined ? [] : await notesOf(topic.tip)),
    })),
  );
  return related.sort((a, b) => a.topic.length - b.topic.length || (a.topic < b.topic ? -1 : 1));
}

function refusalOf(
  placement: Placement,
  wanted: Topic,
  as: SessionId,
  { caller, live }: Pass,
): Refusal | undefined {
  switch (placement.kind) {
    case 'unchanged':
      return undefined;
    case 'no-name':
      return { code: 'usage', why: `too many topics are called ${wanted}`, hint: 'git handoff import -h' };
    case 'not-owner': {
      const name = typedTopic(placement.known.branch, placement.known.topic);
      return {
        code: 'not-owner',
        why: `${name} belongs to ${ownerName(as)}`,
        hint: `git handoff ${live.has(as) ? 'show' : 'take'} ${name}`,
      };
    }
    default: {
      if (as === caller.id || !live.has(as)) return undefined;
      const why = `${ownerName(as)} is at work: it can import its own notes, and anybody can once it has ended`;
      return { code: 'not-owner', why, hint: 'git handoff sessions' };
    }
  }
}

async function scanDraft(
  { note, file }: Draft,
  { options, secretScan, warnings }: Pass,
): Promise<{ readonly refusal?: Refusal; readonly allowed?: string }> {
  const verdict = decideSecrets(await findSecrets(note), options.allowSecret ? 'all' : [], secretScan);
  if (verdict.kind === 'allowed') return { allowed: formatAllowed(verdict.rules) };
  if (verdict.kind === 'clean') return {};
  const why = `${escapeLine(file.path)}: ${looksLike(verdict.findings)}`;
  if (verdict.kind === 'warn') {
    warnings.push(why);
    return {};
  }
  const option = (name: string, value: string | undefined) =>
    value === undefined ? '' : ` --${name} ${shellWord(value)}`;
  const place = option('branch', options.branch) + option('topic', options.topic);
  const again = `git handoff import --allow-secret --from ${file.format}${place} -- ${shellWord(file.path)}`;
  const hint = `take it out of the file, or, if it is not a secret: ${again}`;
  return { refusal: { code: 'secret', why, hint } };
}

function write(
  { draft, incoming, placement, as }: Placed,
  place: { readonly branch: BranchName; readonly topic: Topic },
  secretAllowed: string | undefined,
  { workspace, caller, author, now }: Pass,
): Promise<WriteResult> {
  const keeps = placement.kind === 'close';
  const expect = 'known' in placement ? (placement.known.tip ?? null) : null;
  return commitHandoff(
    workspace.repository,
    handoffPath(place.branch, place.topic),
    { me: as, succeeded: [], take: false, expect },
    {
      note: keeps ? undefined : draft.note,
      summary: keeps ? undefined : summarise(draft.text, escapeLine),
      state: draft.state,
      base: draft.base,
      client: as === caller.id ? caller.client : undefined,
      from: draft.from,
      to: draft.to,
      importedFrom: incoming.importedFrom,
      secretAllowed,
      // The repository's state when the note was written is unknown, except perhaps HEAD.
      recorded: recordState({ ...place, head: draft.base }),
      author,
      seconds: Math.floor(now / 1000),
    },
  );
}

function refusedBy(
  result: WriteResult,
  { branch, topic }: { readonly branch: string; readonly topic: Topic },
): Refusal | undefined {
  const name = typedTopic(branch, topic);
  switch (result.kind) {
    case 'written':
    case 'unchanged':
      return undefined;
    case 'not-owner': {
      const why = `${name} belongs to ${ownerName(result.owner, result)}`;
      return { code: 'not-owner', why, hint: `git handoff show ${name}` };
    }
    case 'read-only': {
      const why = `${name} was written in a format this version does not know`;
      return { code: 'integrity', why, hint: `git handoff show ${name}` };
    }
    default:
      return { code: 'lost-race', why: `${name} was moved meanwhile`, hint: 'git handoff import --dry-run' };
  }
}

/** The codes that decide the exit status, the worst first. */
const WORST: readonly FailureCode[] = ['integrity', 'not-owner', 'lost-race', 'usage', 'secret'];

function finish(
  placed: readonly Placed[],
  skipped: readonly UnimportedFile[],
  dryRun: boolean,
  cwd: string,
  notices: readonly string[],
): CommandResult<ImportValue> {
  const nothing = { branch: null, topic: null, owner: null, state: null, to: null, oid: null };
  const left = skipped.map(({ path, format, why, code }): ImportShape => {
    const action = code === undefined ? 'skip' : 'refuse';
    return { file: shownPath(path, cwd), format, action, ...nothing, why };
  });
  const value = { dryRun, items: [...placed.map((one) => noteItem(one, cwd)), ...left] };
  const wrong = skipped.flatMap(({ path, why, code, hint }) =>
    code === undefined ? [] : [{ code, why: `${escapeLine(path)}: ${why}`, hint }],
  );
  const all: Refusal[] = [...placed.flatMap(({ refusal }) => refusal ?? []), ...wrong];
  const worst = WORST.map((code) => all.find((one) => one.code === code)).find((one) => one !== undefined);
  if (worst === undefined) return { value, notices };
  const rest = all.length === 1 ? '' : ` (and ${all.length - 1} more)`;
  const message = `not everything ${dryRun ? 'would be' : 'was'} imported: ${worst.why}${rest}`;
  return { value, notices, failure: new Failure(worst.code, message, { hint: worst.hint }) };
}

function noteItem({ draft, incoming, placement, as, oid, refusal }: Placed, cwd: string): ImportShape {
  const known = 'known' in placement ? placement.known : undefined;
  const topic = placement.kind === 'create' ? placement.topic : (known?.topic ?? incoming.topic);
  const { kind } = placement;
  return {
    file: shownPath(draft.file.path, cwd),
    format: draft.file.format,
    action: refusal !== undefined || kind === 'not-owner' || kind === 'no-name' ? 'refuse' : kind,
    branch: known?.branch ?? incoming.branch,
    // A topic that was made from the text may contain the secret.
    topic: refusal?.code === 'secret' ? null : topic,
    owner: as,
    state: kind === 'unchanged' ? placement.known.state : draft.state,
    to: draft.to ?? null,
    oid: refusal === undefined ? (oid ?? null) : null,
    why: refusal?.why ?? draft.remark ?? null,
  };
}

/** Shows files under the current folder by their relative path, and others by their full path. */
function shownPath(path: string, cwd: string): string {
  const way = relative(cwd, path);
  return way.startsWith('..') || !path.startsWith('/') ? path : way;
}

const WRITES = ['create', 'update', 'close'];

/** Lists the place, owner and file of each note, and the files that were left out. */
export function renderImported({ dryRun, items }: ImportValue): Rendered {
  const rows = items.map(({ action, branch, topic, owner, state, to, file, why }): string[] => {
    const source = `${escapeLine(file)}${why === null ? '' : `  (${escapeLine(why)})`}`;
    if (branch === null || topic === null || owner === null) return [action, '-', '', '', source];
    const who = ownerText({ owner, ownerName: null, client: null });
    const address = to === null ? '' : ` to ${escapeLine(to)}`;
    return [action, escapeLine(`${branch}/${topic}`), state ?? '', `${who}${address}`, source];
  });
  const count = (actions: readonly string[]) => items.filter(({ action }) => actions.includes(action)).length;
  const [writes, unchanged] = [count(WRITES), count(['unchanged'])];
  const left = items.length - writes - unchanged;
  const parts = [`${writes} ${dryRun ? 'to import' : 'imported'}`];
  if (unchanged > 0) parts.push(`${unchanged} there already`);
  if (left > 0) parts.push(`${left} left out`);
  const files = writes === 0 || dryRun ? '' : '; the files stay where they are';
  return `${columns(rows)}${parts.join(', ')}${files}\n`;
}
