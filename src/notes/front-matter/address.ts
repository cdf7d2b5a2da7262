/** To whom a note is, as the options of `write` say it. */
export interface Address {
  readonly to: string | undefined;
  readonly tags: readonly string[];
  readonly references: readonly string[];
}

/** A note as it is written: its bytes, and what the commit says of it. */
export interface PreparedNote {
  readonly note: Uint8Array;
  readonly summary: string;
  readonly to: string | undefined;
  /** The operator that its front matter says it is from; a note without is from its session only. */
  readonly from: string | undefined;
}

export interface NoteScene {
  readonly topic: string;
  /** The name that stands as `from`. */
  readonly from: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Whether anything is asked for: then the note needs front matter. */
export function isAddressed({ to, tags, references }: Address): boolean {
  return to !== undefined || tags.length > 0 || references.length > 0;
}
