import { type SessionId, topicsOverlap } from './names.ts';

/** The files of claude-handoff-guard, in a project's memory folder: `handoff-<branch>-<topic>.md`. Line 1 names the owner. */

const MEMORY_FILE = /\/projects\/[^/]+\/memory\/(handoff-[^/]*)$/i;
const MEMORY_FOLDER = /\/projects\/[^/]+\/memory$/;
const GRAMMAR = /^handoff-[a-z0-9]+-[a-z0-9]+(?:-[a-z0-9]+)+\.md$/;
const ARCHIVE = 'handoff-archive';

/** Returns a handoff file's name from its absolute path: any name that begins with `handoff-`, in whatever case. */
export function markerFileName(path: string): string | undefined {
  const name = MEMORY_FILE.exec(path)?.[1];
  return name === ARCHIVE ? undefined : name;
}

/** Whether an absolute path is a folder that holds handoff files. */
export function isMemoryFolder(path: string): boolean {
  return MEMORY_FOLDER.test(path);
}

/** Whether a name has the form `handoff-<branch>-<topic of two words or more>.md`. */
export function isMarkerFileName(name: string): boolean {
  return GRAMMAR.test(name);
}

/** Returns the session that the first line of a file names; a byte order mark before it does not matter. */
export function markerOwner(content: string): string | undefined {
  const firstLine = content.slice(0, 1024).split(/\r?\n/, 1)[0] ?? '';
  return /^\uFEFF?<!--[ \t]*claude-session:[ \t]*([^ \t]+?)[ \t]*-->/.exec(firstLine)?.[1];
}

/** Returns the first line of a file that `session` owns. */
export function markerLine(session: SessionId): string {
  return `<!-- claude-session: ${session} -->`;
}

/** One text that an edit puts in the place of another. */
export interface Replacement {
  readonly from: string;
  readonly to: string;
  /** Whether every occurrence is replaced, not only the first. */
  readonly all: boolean;
}

/** Applies edits one after another; an edit whose `from` is empty puts its text in front. */
export function replaced(content: string, edits: readonly Replacement[]): string {
  return edits.reduce((text, { from, to, all }) => {
    if (from === '') return to + text;
    return all ? text.replaceAll(from, () => to) : text.replace(from, () => to);
  }, content);
}

/** Adds the marker as the first line, with the kind of line end that the content has; a byte order mark stays first. */
export function withMarker(content: string, session: SessionId): string {
  const mark = content.startsWith('\uFEFF') ? '\uFEFF' : '';
  const newline = /\r\n/.test(content.slice(0, 4096)) ? '\r\n' : '\n';
  return `${mark}${markerLine(session)}${newline}${content.slice(mark.length)}`;
}

/** Returns other files that are probably about the same work: their first two meaningful words are the same. */
export function overlappingFiles(name: string, siblings: readonly string[]): string[] {
  const words = (file: string) => file.replace(/^handoff-|\.md$/g, '');
  return siblings.filter((sibling) => topicsOverlap(words(name), words(sibling)));
}

/** What is known of a guarded file before a tool touches it. */
export interface MarkerFile {
  readonly name: string;
  readonly exists: boolean;
  /** The owner that the first line names, as written. */
  readonly owner: string | undefined;
}

/** What a tool would do to the file; what a shell command leaves in it is not known. */
export type MarkerAct =
  | { readonly kind: 'write'; readonly content: string }
  /** `result`: what the file will begin with, as far as the tool says. */
  | { readonly kind: 'edit'; readonly result?: string | undefined }
  | { readonly kind: 'shell' }
  | { readonly kind: 'remove' };

export type MarkerDecision =
  | { readonly kind: 'allow' }
  | { readonly kind: 'insert-marker' }
  | { readonly kind: 'deny'; readonly why: 'grammar' | 'foreign' | 'no-marker' | 'marker-missing' | 'shell' };

/** Decides whether `session` may do `act` to the file. An unknown session cannot get a marker: what it creates is let through. */
export function decideMarkerFile(
  file: MarkerFile,
  act: MarkerAct,
  session: SessionId | undefined,
  mode: 'rewrite' | 'handshake',
): MarkerDecision {
  const own = session !== undefined && file.owner === session;
  if (file.owner !== undefined && !own) return { kind: 'deny', why: 'foreign' };
  const named = isMarkerFileName(file.name);
  switch (act.kind) {
    case 'remove':
      return own || !file.exists ? { kind: 'allow' } : { kind: 'deny', why: 'no-marker' };
    case 'shell':
      // `sed -i.bak` and editors leave other files beside the note.
      if (!named && !/\.md$/i.test(file.name)) return { kind: 'allow' };
      return own ? { kind: 'allow' } : { kind: 'deny', why: named ? 'shell' : 'grammar' };
    case 'edit':
      if (!named) return { kind: 'deny', why: 'grammar' };
      if (!own && file.exists) return { kind: 'deny', why: 'no-marker' };
      return namesAnother(act.result, session) ? { kind: 'deny', why: 'marker-missing' } : { kind: 'allow' };
    case 'write':
      return named ? decideWrite(file, act.content, session, mode) : { kind: 'deny', why: 'grammar' };
  }
}

function namesAnother(content: string | undefined, session: SessionId | undefined): boolean {
  const owner = content === undefined ? undefined : markerOwner(content);
  return owner !== undefined && session !== undefined && owner !== session;
}

function decideWrite(
  file: MarkerFile,
  content: string,
  session: SessionId | undefined,
  mode: 'rewrite' | 'handshake',
): MarkerDecision {
  if (session === undefined) return { kind: 'allow' };
  const marked = markerOwner(content);
  if (marked === session) return { kind: 'allow' };
  // A session that does not own an existing file may never have read it, so the writer must add the marker itself.
  const ours = !file.exists || file.owner === session;
  if (marked === undefined && ours && mode === 'rewrite') return { kind: 'insert-marker' };
  return { kind: 'deny', why: 'marker-missing' };
}
