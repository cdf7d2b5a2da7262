import { relative } from 'node:path';
import { escapeLine, Failure, type FailureCode, shellWord } from '../../domain/messages.ts';
import {
  type IncomingNote,
  type KnownTopic,
  type Placement,
  candidates,
  decidePlacement,
} from '../../domain/formats/placement.ts';
import type { Format } from '../../domain/formats/texts.ts';
import { recordState, summarise } from '../../domain/handoff.ts';
import { type Oid, type SessionId, ownerName } from '../../domain/names.ts';
import { decideSecrets, formatAllowed, type SecretScan } from '../../domain/secrets.ts';
import { noteNames, wholeHistory } from '../../git/commits.ts';
import { handoffPath } from '../../git/namespace.ts';
import { objectName } from '../../git/hash.ts';
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
import { openJudged } from '../workspace.ts';
import { type Draft, readDrafts } from './drafts.ts';
import {
  type NoteFile,
  type ImportWorld,
  type LeftOut,
  type UnimportedFile,
  findFiles,
  openWorld,
} from './find-files.ts';

interface ImportOptions {
  /** Files and folders; if empty, the places where other programs keep this project's notes. */
  readonly paths: readonly string[];
  readonly from: Format | undefined;
  readonly dryRun: boolean;
  readonly branch: string | undefined;
  readonly topic: string | undefined;
  readonly allowSecret: boolean;
  readonly session: string | undefined;
}

interface ImportValue {
  readonly dryRun: boolean;
  readonly items: readonly ImportShape[];
}

/** One pass over the files. A note is compared with its topic's notes, and written only if the tip has not moved since. */
interface Pass extends ImportWorld {
  readonly options: ImportOptions;
  readonly caller: Caller;
  readonly author: Committer;
  readonly secretScan: SecretScan;
  /** The sessions at work. */
  readonly live: ReadonlySet<string>;
  readonly objects: 'sha1' | 'sha256';
  /** The existing topics, and those that this pass wrote, by their names. */
  readonly topics: Map<string, StandingTopic>;
}

interface StandingTopic extends KnownTopic {
  /** Whether `notes` covers the topic's whole history. */
  readonly isWhole: boolean;
}

/** A file, and what the import did or would do with it. Some fields are missing if the file was left out early. */
interface ImportedFile extends NoteFile, Partial<Omit<Draft, keyof NoteFile>>, Partial<Placement> {
  readonly left?: LeftOut | undefined;
  readonly oid?: Oid | undefined;
  /** The topic before the write, to report a ref that had been moved by hand. */
  readonly before?: TopicState;
  readonly warning?: string | undefined;
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
  const [{ repository, sessions, settings, judged, notices }, states, author] = await Promise.all([
    openJudged(context),
    readTopics({ cwd }),
    committer(cwd),
  ]);
  const world = await openWorld(repository, options, context);
  const found = findFiles(options.paths, options.from, world);
  const { drafts, skipped: unread } = await readDrafts(found.files, world);
  const skipped = [...found.skipped, ...unread];
  requireSomething(found.places, drafts, skipped, options);
  const tips = states.flatMap(({ tip }) => tip?.oid ?? []);
  const pass: Pass = {
    ...world,
    options,
    caller: findCaller(context, sessions, options.session, author),
    author,
    secretScan: settings.secretScan,
    live: new Set(judged.flatMap(({ liveness, record }) => (liveness === 'live' ? record.session : []))),
    objects: await objectFormat(repository, tips[0]),
    topics: standing(states, await noteNames(repository, tips)),
  };
  const files: ImportedFile[] = [];
  for (const draft of drafts) files.push(await importOne(draft, pass));
  const warnings = files.flatMap(({ warning }) => warning ?? []);
  const former = files.flatMap(({ before }) => before ?? []);
  files.push(...skipped);
  return {
    value: { dryRun: options.dryRun, items: files.map((file) => shapeOf(file, cwd)) },
    notices: [...notices, ...warnings, ...(await reportIllegalMoves(repository, former, now))],
    ...failureOf(files, options.dryRun),
  };
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

/** @param tipNotes the note of each tip, by the tip's commit */
function standing(
  states: readonly TopicState[],
  tipNotes: ReadonlyMap<Oid, Oid>,
): Map<string, StandingTopic> {
  return new Map(
    states.map(({ branch, topic, tip }) => {
      // A topic that cannot be read belongs to nobody, but its name is taken.
      const { owner = '' as SessionId, state = 'open', importedFrom } = tip?.trailers ?? {};
      const note = tip && tipNotes.get(tip.oid);
      const notes = note === undefined ? [] : [note];
      const isWhole = tip === undefined;
      return [
        `${branch}/${topic}`,
        { branch, topic, tip: tip?.oid, owner, state, importedFrom, notes, isWhole },
      ];
    }),
  );
}

async function importOne(draft: Draft, pass: Pass): Promise<ImportedFile> {
  const { caller, objects, options, topics } = pass;
  const note = objectName(objects, 'blob', draft.bytes);
  const incoming = { ...draft, owner: draft.owner ?? caller.id, note: note as Oid };
  const placed = { ...draft, ...decidePlacement(incoming, await relatedTopics(incoming, pass), caller.id) };
  const { kind, target, importedFrom, state } = placed;
  const refused = refusalOf(placed, pass);
  if (refused !== undefined) return { ...placed, left: refused };
  if (kind === 'unchanged') return { ...placed, oid: target.tip, state: target.state };
  const secrets: SecretsFound = kind === 'close' ? {} : await scanDraft(draft, pass);
  if (secrets.left !== undefined) return { ...placed, left: secrets.left };
  const written = options.dryRun ? undefined : await write(placed, secrets.allowed, pass);
  const failed = written === undefined ? undefined : refusedBy(written, target);
  if (failed !== undefined) return { ...placed, ...secrets, left: failed };
  const { before, commit } = written?.kind === 'written' ? written : {};
  topics.set(`${target.branch}/${target.topic}`, {
    ...target,
    tip: commit?.oid ?? target.tip,
    state,
    importedFrom,
    notes: [incoming.note, ...target.notes],
    // A close needs only the tip's note: the older ones may not have been read.
    isWhole: kind !== 'close',
  });
  return { ...placed, ...secrets, oid: commit?.oid, ...(before && { before }) };
}

/** Returns the topics that a note may belong to, with their notes. A topic's variants (`auth-2`, ...) come after it. */
async function relatedTopics(
  incoming: IncomingNote & Draft,
  { topics, branch, topic, repository: { cwd } }: Pass,
): Promise<KnownTopic[]> {
  // If the command line names a branch or topic, earlier imports to other places do not count.
  const byNameOnly = branch !== undefined || topic !== undefined || incoming.format === 'handover';
  const related = await Promise.all(
    candidates(incoming, [...topics.values()], byNameOnly).map(async (known) => {
      const { tip, notes, isWhole } = known;
      // Usually the tip has this very note: then the history need not be read.
      if (tip === undefined || isWhole || notes.includes(incoming.note)) return known;
      const all = await noteNames({ cwd }, await wholeHistory({ cwd }, tip));
      return { ...known, notes: [...all.values()] };
    }),
  );
  return related.sort((a, b) => a.topic.length - b.topic.length || (a.topic < b.topic ? -1 : 1));
}

function refusalOf({ kind, target, topic }: Draft & Placement, { caller, live }: Pass): LeftOut | undefined {
  const { owner } = target;
  switch (kind) {
    case 'unchanged':
      return undefined;
    case 'no-name':
      return { code: 'usage', why: `too many topics are called ${topic}`, hint: 'git handoff import -h' };
    case 'not-owner': {
      const name = typedTopic(target.branch, target.topic);
      return {
        code: 'not-owner',
        why: `${name} belongs to ${ownerName(owner)}`,
        hint: `git handoff ${live.has(owner) ? 'show' : 'take'} ${name}`,
      };
    }
    default: {
      if (owner === caller.id || !live.has(owner)) return undefined;
      const why = `${ownerName(owner)} is at work: it can import its own notes, and anybody can once it has ended`;
      return { code: 'not-owner', why, hint: 'git handoff sessions' };
    }
  }
}

/** What follows from the secrets in a note: why it is left out, or a warning, or the rules that were allowed. */
interface SecretsFound {
  readonly left?: LeftOut;
  readonly warning?: string;
  readonly allowed?: string;
}

async function scanDraft(
  { bytes, path, format }: Draft,
  { options, secretScan }: Pass,
): Promise<SecretsFound> {
  const verdict = decideSecrets(await findSecrets(bytes), options.allowSecret ? 'all' : [], secretScan);
  if (verdict.kind === 'allowed') return { allowed: formatAllowed(verdict.rules) };
  if (verdict.kind === 'clean') return {};
  const why = `${escapeLine(path)}: ${looksLike(verdict.findings)}`;
  if (verdict.kind === 'warn') return { warning: why };
  const option = (name: string, value: string | undefined) =>
    value === undefined ? '' : ` --${name} ${shellWord(value)}`;
  const place = option('branch', options.branch) + option('topic', options.topic);
  const again = `git handoff import --allow-secret --from ${format}${place} -- ${shellWord(path)}`;
  const hint = `take it out of the file, or, if it is not a secret: ${again}`;
  return { left: { code: 'secret', why, hint } };
}

function write(
  { kind, target, bytes, text, state, base, from, to, importedFrom }: Draft & Placement,
  secretAllowed: string | undefined,
  { repository, caller, author, now }: Pass,
): Promise<WriteResult> {
  const { branch, topic, owner, tip } = target;
  const keeps = kind === 'close';
  return commitHandoff(
    repository,
    handoffPath(branch, topic),
    { me: owner, succeeded: [], take: false, expect: tip ?? null },
    {
      note: keeps ? undefined : bytes,
      summary: keeps ? undefined : summarise(text, escapeLine),
      state,
      base,
      client: owner === caller.id ? caller.client : undefined,
      ...{ from, to, importedFrom, secretAllowed },
      // The repository's state when the note was written is unknown, except perhaps HEAD.
      recorded: recordState({ branch, topic, head: base }),
      author,
      seconds: Math.floor(now / 1000),
    },
  );
}

function refusedBy(result: WriteResult, { branch, topic }: KnownTopic): LeftOut | undefined {
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

/** The failure that reports the worst fault. For a file that was not read as a note, the message begins with the file's name. */
function failureOf(files: readonly ImportedFile[], dryRun: boolean): { readonly failure?: Failure } {
  const all = files.flatMap(({ path, target, left }) => {
    if (left?.code === undefined) return [];
    const where = target === undefined ? `${escapeLine(path)}: ` : '';
    return [{ code: left.code, why: where + left.why, hint: left.hint }];
  });
  const [worst] = all.sort((a, b) => WORST.indexOf(a.code) - WORST.indexOf(b.code));
  if (worst === undefined) return {};
  const rest = all.length === 1 ? '' : ` (and ${all.length - 1} more)`;
  const message = `not everything ${dryRun ? 'would be' : 'was'} imported: ${worst.why}${rest}`;
  return { failure: new Failure(worst.code, message, { hint: worst.hint }) };
}

function shapeOf(file: ImportedFile, cwd: string): ImportShape {
  const { path, format, kind, target, state = null, to = null, oid = null, left, remark } = file;
  return {
    file: shownPath(path, cwd),
    format,
    action:
      left?.code === undefined && kind !== 'not-owner' && kind !== 'no-name' ? (kind ?? 'skip') : 'refuse',
    branch: target?.branch ?? null,
    // A topic that was made from the text may contain the secret.
    topic: left?.code === 'secret' ? null : (target?.topic ?? null),
    owner: target?.owner ?? null,
    ...{ state, to, oid },
    why: left?.why ?? remark ?? null,
  };
}

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
