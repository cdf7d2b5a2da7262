import type { AutomaticReason } from '../../domain/handoff.ts';
import type { NoteFinding } from '../../domain/verification/rules.ts';
import type { HandoffShape } from '../shapes.ts';

/** A note that was checked against the repository, and what it hands on. */
export interface BootShape extends HandoffShape {
  readonly automatic: AutomaticReason | null;
  /** Who wrote the text; the owner may have taken it. */
  readonly writer: string;
  /** The same as messages name it. */
  readonly writerText: string;
  readonly writtenAt: string;
  /** The commit that the text is about. */
  readonly writtenOn: string | null;
  readonly goal: string;
  readonly goalIsSummary: boolean;
  /** What the note says of the state of the work. */
  readonly said: string | null;
  /** `null`: it names none. */
  readonly nextAction: string | null;
  readonly stopConditions: string | null;
  readonly stale: boolean;
  readonly findings: readonly NoteFinding[];
  readonly carried: CarriedShape | null;
}

/** The uncommitted work that a note carries, and whether it would unpack here. */
export interface CarriedShape {
  readonly author: string;
  /** `12 paths, 34 KiB` */
  readonly size: string;
  readonly unpacks: 'cleanly' | 'is there' | 'no' | 'not fetched';
  /** What is in the way. */
  readonly why: string | null;
}
