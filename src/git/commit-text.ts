import { type Oid, parseOid } from '../domain/names.ts';
import { type BinaryText, utf8 } from './binary-text.ts';

/** What a commit object says by itself: headers and message (no tree entries). */
export interface CommitText {
  readonly parents: readonly Oid[];
  readonly summary: string;
  readonly message: string;
  readonly seconds: number;
  readonly name: string;
  readonly mail: string;
}

/** Reads the raw bytes of a commit object (gitformat: headers, blank line, message). */
export function parseCommit(content: BinaryText): CommitText {
  const end = content.indexOf('\n\n');
  const headers = end < 0 ? content : content.slice(0, end);
  const message = end < 0 ? '' : utf8(content.slice(end + 2));
  const lineEnd = message.indexOf('\n');
  return {
    parents: parentsOf(headers),
    summary: lineEnd < 0 ? message : message.slice(0, lineEnd),
    message,
    ...committed(headers),
  };
}

function parentsOf(headers: BinaryText): Oid[] {
  const parents: Oid[] = [];
  for (let at = headers.indexOf('\nparent '); at >= 0; at = headers.indexOf('\nparent ', at + 1)) {
    const start = at + '\nparent '.length;
    const end = headers.indexOf('\n', start);
    const oid = parseOid(headers.slice(start, end < 0 ? undefined : end));
    if (oid !== undefined) parents.push(oid);
  }
  return parents;
}

/** `committer <name> <mail> <seconds> <zone>`. */
function committed(headers: BinaryText): Pick<CommitText, 'seconds' | 'name' | 'mail'> {
  const start = headers.indexOf('\ncommitter ');
  const lineEnd = headers.indexOf('\n', start + 1);
  const line = headers.slice(start, lineEnd < 0 ? undefined : lineEnd);
  const zone = line.lastIndexOf(' ');
  const seconds = Number(line.slice(line.lastIndexOf(' ', zone - 1) + 1, zone));
  const open = line.lastIndexOf('<');
  const name = utf8(line.slice('\ncommitter '.length, Math.max(open, 0))).trim();
  const mail = utf8(line.slice(open + 1, line.lastIndexOf('>')));
  return { seconds: Number.isSafeInteger(seconds) ? seconds : 0, name, mail };
}
