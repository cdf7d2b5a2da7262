import type { FailureCode } from '../../../domain/failure.ts';
import type { Format } from '../../../domain/formats/detect.ts';
import type { HandoffState } from '../../../domain/handoff.ts';
import type { BranchName, Oid, SessionId, Topic } from '../../../domain/names.ts';
import type { Repository } from '../../../git/repository.ts';

/** A file that may hold a note, read. */
export interface FoundFile {
  readonly format: Format;
  /** Absolute. */
  readonly path: string;
  /** What its commit will call it: the same at every import, and without the folders of this machine. */
  readonly place: string;
  /** Its predecessor had put it away. */
  readonly archived: boolean;
  readonly bytes: Buffer;
  /** Milliseconds since the epoch: the order in which notes are written. */
  readonly mtimeMs: number;
}

/** A file that is not imported. */
export interface UnimportedFile {
  readonly format: Format | null;
  readonly path: string;
  readonly why: string;
  /** Not only left out, but wrong: decides the exit status. */
  readonly code: FailureCode | undefined;
  /** How to mend it; `undefined`: what fits the code. */
  readonly hint?: string;
}

/** A note as it is going to be written, before anybody looked at what stands there. */
export interface Draft {
  readonly file: FoundFile;
  readonly branch: BranchName;
  readonly topic: Topic;
  /** `undefined`: whoever imports it. */
  readonly owner: SessionId | undefined;
  readonly state: HandoffState;
  /** The operators that its front matter names. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly base: Oid | undefined;
  readonly note: Uint8Array;
  /** What a reader calls the note; its first line becomes the summary. */
  readonly text: string;
  readonly copyOf: Oid | undefined;
  /** What a person should know about it, beside where it goes. */
  readonly remark: string | undefined;
}

/** What the readers of all formats need to know. */
export interface ImportWorld {
  readonly repository: Repository;
  /** Top of the working tree; `undefined` in a bare repository. */
  readonly top: string | undefined;
  readonly branches: readonly BranchName[];
  /** `--branch`, which goes before what a file says. */
  readonly branch: BranchName | undefined;
  readonly topic: Topic | undefined;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type Interpreted = { readonly draft: Draft } | { readonly skipped: UnimportedFile };

/** A file that is not imported, and why. */
export function skip(
  file: Pick<FoundFile, 'format' | 'path'>,
  why: string,
  code?: FailureCode,
): UnimportedFile {
  return { format: file.format, path: file.path, why, code };
}

/** A text of which only the beginning and the headings matter: what is no UTF-8 is replaced. */
export const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
