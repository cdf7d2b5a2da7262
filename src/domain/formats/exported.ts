import { markerLine } from '../marker.ts';
import {
  type BranchName,
  type Oid,
  type SessionId,
  type Topic,
  parseBranchName,
  parseClientSessionId,
  parseOid,
  parseTopic,
} from '../names.ts';
import type { ExportFormat } from './detect.ts';

/** What the first line of an exported file says. */
interface ExportOrigin {
  readonly branch: BranchName;
  readonly topic: Topic;
  readonly oid: Oid;
  readonly owner: SessionId | undefined;
  readonly format: ExportFormat;
}

/** An exported file taken apart: the note begins at this character. */
interface ExportedFile extends ExportOrigin {
  readonly noteAt: number;
}

/** What handover's readers look for above the note. */
interface HandoverFacts {
  readonly head: string | undefined;
  /** RFC 3339. */
  readonly updated: string;
}

const FIRST_LINE =
  /^(?:<!-- claude-session: ([^ \n]+) --> )?<!-- git-handoff: a copy of ([^ \n]+) at ([0-9a-f]+)(, a handover)?\. /;
const NOTE_BEGINS = '<!-- git-handoff: the note begins -->\n';
/** A header is short: what looks like one in a long first line is none. */
const MAX_HEADER = 4096;

/**
 * What an exported file has before the note: one comment that names the handoff and says that it is a copy. For
 * claude-handoff-guard the owner's marker stands on the same line, for handover a Metadata section follows.
 */
export function exportHeader(origin: ExportOrigin, facts: HandoverFacts): string {
  const { branch, topic, oid, owner, format } = origin;
  const place = encodeURI(`${branch}/${topic}`).replace(
    /[>!']/g,
    (one) => `%${one.charCodeAt(0).toString(16)}`,
  );
  const marker = format === 'guard' && owner !== undefined ? `${markerLine(owner)} ` : '';
  const kind = format === 'handover' ? ', a handover' : '';
  const comment = `<!-- git-handoff: a copy of ${place} at ${oid}${kind}. Changes here stay here until git handoff import -->\n`;
  if (format !== 'handover') return marker + comment;
  const fields = [`Updated: ${facts.updated}`, `Branch: ${branch}`, `HEAD: ${facts.head ?? '(not known)'}`];
  const lines = fields.map((field) => `- ${field}\n`).join('');
  return `${comment}# Session Handover\n\n## Metadata\n\n${lines}\n${NOTE_BEGINS}`;
}

/** Recognises a file that `exportHeader` began; `undefined` for any other. */
export function readExported(text: string): ExportedFile | undefined {
  const beginning = text.slice(0, MAX_HEADER);
  const match = FIRST_LINE.exec(beginning);
  const lineEnd = beginning.indexOf('\n');
  if (match === null || lineEnd < 0) return undefined;
  const [, marker, place = '', oidText = '', handover] = match;
  const named = decode(place);
  const oid = parseOid(oidText);
  if (named === undefined || oid === undefined) return undefined;
  const begins = handover === undefined ? lineEnd + 1 : beginning.indexOf(NOTE_BEGINS) + NOTE_BEGINS.length;
  if (begins < lineEnd + 1) return undefined;
  const format = handover !== undefined ? 'handover' : marker === undefined ? 'markdown' : 'guard';
  return { ...named, oid, owner: parseClientSessionId(marker), format, noteAt: begins };
}

function decode(place: string): { branch: BranchName; topic: Topic } | undefined {
  let text: string;
  try {
    text = decodeURIComponent(place);
  } catch {
    return undefined;
  }
  const slash = text.lastIndexOf('/');
  const [branch, topic] = [
    parseBranchName(text.slice(0, Math.max(slash, 0))),
    parseTopic(text.slice(slash + 1)),
  ];
  return branch === undefined || topic === undefined ? undefined : { branch, topic };
}

/** The name under which claude-handoff-guard's readers find a note. */
export function guardFileName(branchWords: readonly string[], topic: Topic): string {
  return `handoff-${[...branchWords, topic].join('-')}.md`;
}
