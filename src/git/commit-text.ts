import { type Oid, parseOid } from '../domain/names.ts';
import { type BinaryText, utf8 } from './run.ts';

/**
 * The headers and message of a commit object (no tree entries). Each part is parsed on demand, because of thousands of
 * commits most are only counted.
 */
export class CommitText {
  /** The raw bytes of the object (gitformat: headers, blank line, message). */
  private readonly content: BinaryText;
  /** Cached, because sorting thousands of commits compares it again and again. */
  private date: number | undefined;

  constructor(content: BinaryText) {
    this.content = content;
  }

  get parents(): readonly Oid[] {
    return parentsOf(this.headers);
  }

  get message(): string {
    const end = this.content.indexOf('\n\n');
    return end < 0 ? '' : utf8(this.content.slice(end + 2));
  }

  /** The first line of the message. */
  get summary(): string {
    const { message } = this;
    const end = message.indexOf('\n');
    return end < 0 ? message : message.slice(0, end);
  }

  /** Committer date, seconds since the epoch; 0 when the commit has none. */
  get seconds(): number {
    return (this.date ??= secondsOf(this.content));
  }

  /** Committer's name. */
  get name(): string {
    const line = this.committer;
    return utf8(line.slice(COMMITTER.length, Math.max(line.lastIndexOf('<'), 0))).trim();
  }

  get mail(): string {
    const line = this.committer;
    return utf8(line.slice(line.lastIndexOf('<') + 1, line.lastIndexOf('>')));
  }

  private get headers(): BinaryText {
    const end = this.content.indexOf('\n\n');
    return end < 0 ? this.content : this.content.slice(0, end);
  }

  /** `committer <name> <mail> <seconds> <zone>`. */
  private get committer(): BinaryText {
    const start = this.headers.indexOf(COMMITTER);
    const end = this.headers.indexOf('\n', start + 1);
    return this.headers.slice(start, end < 0 ? undefined : end);
  }
}

const COMMITTER = '\ncommitter ';
/** The date in the headers, which end at the first empty line. */
const DATE = /^(?:[^\n]+\n)*?committer [^\n]*> (\d+) /;

function secondsOf(content: BinaryText): number {
  const seconds = Number(DATE.exec(content)?.[1] ?? 0);
  return Number.isSafeInteger(seconds) ? seconds : 0;
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
