import { dirname } from 'node:path';
import type { PatchedFile } from '../../domain/patch.ts';
import {
  type MarkerAct,
  type MarkerDecision,
  type MarkerFile,
  type Replacement,
  decideMarkerFile,
  markerFileName,
  markerLine,
  markerOwner,
  overlappingFiles,
  replaced,
  withMarker,
} from '../../domain/marker.ts';
import { type SessionId, parseSessionId, parseTopic, shortId } from '../../domain/names.ts';
import { escapeLine } from '../../domain/messages.ts';
import { isHandoffRefFile } from '../../git/discover.ts';
import { entries, readBeginning, realPath } from '../../host/disk.ts';
import type { RefEffect } from '../../shell/effects.ts';
import type { AnalysedFacts } from '../facts.ts';
import { type Call, type Finding, type Refusal, toolPath } from '../call.ts';

/**
 * Protects handoff files of git-handoff's predecessor (`handoff-*.md`): the first line of each names the session that owns it.
 * Also protects the files of git-handoff's refs, which no tool may write.
 */
export function handoffFiles(call: Call): readonly Finding[] {
  const { tool } = call.event;
  switch (tool?.kind) {
    case 'write':
      return touchFile(call, tool.path, { kind: 'write', content: tool.content });
    case 'edit':
      return touchFile(call, tool.path, { kind: 'edit' }, tool.edits);
    case 'patch':
      return tool.files.flatMap((file) => patchedFile(call, file));
    default:
      return [];
  }
}

/** Protects the same files from a command. */
export function handoffFilesOfCommand(call: Call, { effects }: AnalysedFacts): readonly Finding[] {
  return effects.paths.flatMap(({ path, kind, follows, by }) => {
    if (kind === 'remove') return removePath(call, path, by);
    if (isHandoffRefFile(realPath(path, follows), false)) return [refusedRef({ ref: path, by })];
    const guarded = call.machine.files.reachedBy(path, follows);
    return guarded === undefined ? [] : decide(call, guarded, { kind: 'shell' }, by);
  });
}

function touchFile(
  call: Call,
  path: string,
  act: MarkerAct,
  edits: readonly Replacement[] = [],
): readonly Finding[] {
  const target = toolPath(call, path);
  if (isHandoffRefFile(realPath(target), false)) return [refusedRef({ ref: target, by: toolOf(call) })];
  const guarded = call.machine.files.reachedBy(target, true);
  if (guarded === undefined) return [];
  const result =
    edits.length === 0 ? {} : { result: replaced(readBeginning(guarded, MAX_NOTE) ?? '', edits) };
  return decide(call, guarded, { ...act, ...result }, call.event.toolName ?? act.kind);
}

const toolOf = ({ event }: Call) => event.toolName ?? 'the tool';

/** How much of a note we read to find out its first line after an edit. Bytes. */
const MAX_NOTE = 1 << 20;

function patchedFile(call: Call, file: PatchedFile): readonly Finding[] {
  const moved = file.moveTo === undefined ? [] : touchFile(call, file.moveTo, { kind: 'edit' });
  if (file.change === 'delete')
    return [...removePath(call, toolPath(call, file.path), toolOf(call)), ...moved];
  if (file.change !== 'add')
    return [...touchFile(call, file.path, { kind: 'edit', result: file.firstLine }), ...moved];
  const content = file.firstLine ?? '';
  const found = touchFile(call, file.path, { kind: 'write', content });
  if (!found.some(({ kind }) => kind === 'rewrite')) return [...found, ...moved];
  // A rewritten patch would also count as approved, so we refuse the patch, and say which line to add.
  const { files } = call.machine;
  const guarded = files.reachedBy(toolPath(call, file.path), true) ?? file.path;
  const unmarked = markerOwner(content) === undefined ? 'marker-missing' : 'foreign';
  return [refused(call, unmarked, files.read(guarded), 'apply_patch'), ...moved];
}

/** Judges the removal of a file, or of a folder with all that it holds. */
function removePath(call: Call, path: string, by: string): readonly Finding[] {
  if (isHandoffRefFile(realPath(path, false), true)) return [refusedRef({ ref: path, by })];
  return call.machine.files.below(path).flatMap((file) => decide(call, file, { kind: 'remove' }, by));
}

/** Judges an act on a guarded file that exists or would be created. */
function decide(call: Call, path: string, act: MarkerAct, by: string): readonly Finding[] {
  const { session, machine, dialect, settings } = call;
  const file = machine.files.read(path);
  // Only the predecessor's own files must have names of a certain form; other guarded files are judged by their marker alone.
  const named = markerFileName(path) === undefined ? { ...file, name: 'handoff-any-free-name.md' } : file;
  const mode = dialect.canRewrite(machine.env) ? settings.marker : 'handshake';
  const decision = decideMarkerFile(named, act, session, mode);
  switch (decision.kind) {
    case 'deny':
      return [refused(call, decision.why, file, by)];
    case 'insert-marker':
      if (act.kind !== 'write' || session === undefined) return [];
      return [
        { kind: 'rewrite', content: withMarker(act.content, session) },
        ...overlap(path, file.exists).map((text) => ({ kind: 'tell', text }) as const),
      ];
    case 'allow':
      return overlap(path, file.exists || act.kind !== 'write').map((text) => ({ kind: 'show', text }));
  }
}

/** Returns a notice if files beside a new one are probably about the same work. */
function overlap(path: string, exists: boolean): string[] {
  const name = markerFileName(path);
  if (exists || name === undefined) return [];
  const related = overlappingFiles(name, entries(dirname(path)));
  if (related.length === 0) return [];
  return [
    `Sibling-overlap notice: ${related.map(escapeLine).join(', ')} may be about the same work. (Write proceeds.)`,
  ];
}

type Why = Extract<MarkerDecision, { kind: 'deny' }>['why'];

/** Makes a refusal that names the owner in the file's marker. */
function refused({ session }: Call, why: Why, file: MarkerFile, by: string): Refusal {
  const known = parseSessionId(file.owner);
  const owners = known === undefined ? [] : [known];
  return { kind: 'refuse', text: markerRefusal(why, file, session, by), owners, allowedBy: 'files' };
}

/** Refuses a change of a ref that only `git handoff` may change. */
export function refusedRef({ ref, by }: Pick<RefEffect, 'ref' | 'by'>): Refusal {
  const text =
    `${escapeLine(by)} would change ${escapeLine(ref)} behind git-handoff's back, and another ` +
    "session's note could be lost. Look at it with: git handoff list --all; change it with: git handoff write, take " +
    'or close <branch>/<topic>. To get handoffs from a remote, fetch into refs/handoffs-remote/<remote>/*.';
  return { kind: 'refuse', text, allowedBy: 'person' };
}

function markerRefusal(why: Why, file: MarkerFile, session: SessionId | undefined, by: string): string {
  const name = `\`${escapeLine(file.name)}\``;
  switch (why) {
    case 'grammar':
      return (
        `Handoff filename rejected by grammar: ${name}. It must be handoff-<branch>-<topic>.md with a topic of ` +
        'two or more lower-case words, for example `handoff-main-auth-refresh.md` or `handoff-feat-search-index-v1.md`.'
      );
    case 'foreign':
      return (
        `Foreign session owns ${name}. Prior owner: session \`${escapeLine(shortId(file.owner ?? ''))}\`. ` +
        `Your session: \`${shortId(session ?? 'unknown')}\`. Nothing was changed. ${ownNote(file)}`
      );
    case 'no-marker':
      return (
        `Edit on legacy handoff (no ownership marker): ${name}. Read it, then Write the whole file with this as ` +
        `line 1 to take it over:\n  ${marker(session)}`
      );
    case 'marker-missing':
      return (
        'Handoff write missing or wrong ownership marker.\n' +
        `Your session_id: \`${session ?? 'unknown'}\`.\nPrepend exactly this as line 1:\n  ${marker(session)}\nThen retry.`
      );
    case 'shell':
      return (
        `The shell command would change the handoff file ${name} (${escapeLine(by)}), which this session does not ` +
        `own. Use the Write tool, with this as line 1:\n  ${marker(session)}`
      );
  }
}

function marker(session: SessionId | undefined): string {
  return session === undefined ? '<!-- claude-session: <your session id> -->' : markerLine(session);
}

function ownNote(file: MarkerFile): string {
  const topic = parseTopic(`${file.name.replace(/^handoff-[a-z0-9]+-|\.md$/g, '')}-cont`);
  const name = topic ?? 'your-topic';
  return `Leave your own note beside it instead: git handoff write ${name} -m '<what the next session must know>'`;
}
