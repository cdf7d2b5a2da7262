import { ALLOW_VERBS } from './verbs/allow.ts';
import { BOARD_VERBS } from './verbs/board.ts';
import { BOOT_VERBS } from './verbs/boot.ts';
import { CHECK_VERBS } from './verbs/check.ts';
import { COMMIT_VERBS } from './verbs/commits.ts';
import { completionVerbs } from './verbs/completion.ts';
import { DOCTOR_VERBS } from './verbs/doctor.ts';
import { EXCHANGE_VERBS } from './verbs/exchange.ts';
import { NOTE_VERBS } from './verbs/notes.ts';
import { PURGE_VERBS } from './verbs/purge.ts';
import { RESCUE_VERBS } from './verbs/rescue.ts';
import { SETUP_VERBS } from './verbs/setup.ts';
import { SHARING_VERBS } from './verbs/sharing.ts';
import { SYNC_VERBS } from './verbs/travel.ts';
import { UPKEEP_VERBS } from './verbs/upkeep.ts';
import type { VerbTable } from './verbs/verb.ts';

/** Every verb of the command line, in the order that help shows. */
export const VERBS: VerbTable = {
  ...NOTE_VERBS,
  ...UPKEEP_VERBS,
  ...PURGE_VERBS,
  ...BOOT_VERBS,
  ...SHARING_VERBS,
  ...CHECK_VERBS,
  ...COMMIT_VERBS,
  ...RESCUE_VERBS,
  ...SYNC_VERBS,
  ...EXCHANGE_VERBS,
  ...BOARD_VERBS,
  ...DOCTOR_VERBS,
  ...ALLOW_VERBS,
  ...SETUP_VERBS,
  ...completionVerbs(() => VERBS),
};
