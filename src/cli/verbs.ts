import { BOARD_VERBS } from './verbs/board.ts';
import { COMMIT_VERBS } from './verbs/commits.ts';
import { COMPLETION_VERBS } from './verbs/completion.ts';
import { EXCHANGE_VERBS } from './verbs/exchange.ts';
import { NOTE_VERBS } from './verbs/notes.ts';
import { RESCUE_VERBS } from './verbs/rescue.ts';
import { RESUME_VERBS } from './verbs/resume.ts';
import { SETUP_VERBS } from './verbs/setup.ts';
import { UPKEEP_VERBS } from './verbs/upkeep.ts';
import { SHARING_VERBS } from './verbs/sharing.ts';
import { TRAVEL_VERBS } from './verbs/travel.ts';
import type { Verb } from './verbs/verb.ts';

/** Every verb of the command line, in the order that help shows. */
export const VERBS: Readonly<Record<string, Verb>> = {
  ...NOTE_VERBS,
  ...UPKEEP_VERBS,
  ...RESUME_VERBS,
  ...SHARING_VERBS,
  ...COMMIT_VERBS,
  ...RESCUE_VERBS,
  ...TRAVEL_VERBS,
  ...EXCHANGE_VERBS,
  ...BOARD_VERBS,
  ...SETUP_VERBS,
  ...COMPLETION_VERBS,
};
