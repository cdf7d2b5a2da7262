import type { InstallContext } from '../install/client.ts';

/** What a command may ask of the person or the process; commands themselves see neither. */
export interface Interaction {
  readonly note: NoteSource;
  /** How far something is, on a line of the terminal that is written over; `undefined` where nobody looks. */
  readonly progress: ((line: string) => void) | undefined;
  /** Prints a notice before something happens. */
  readonly warn: (text: string) => void;
  /** Hands on what another program says on standard error. */
  readonly pass: (said: Uint8Array) => void;
  /** Asks a question and reads one line; `undefined` where no person sits at a terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  installContext: () => Promise<InstallContext>;
}

/** Where a note may come from, as the command line names it. */
interface NoteRequest {
  readonly topic: string;
  readonly messages: readonly string[];
  readonly file: string | undefined;
}

export type Note =
  Uint8Array | ((target: { branch: string; topic: string; head: string }) => Promise<Uint8Array>);

/** Reads a note; an editor is opened later, when everything else is known to be right. */
export type NoteSource = (request: NoteRequest) => Note;
