import { ALLOW_VERBS, SHARING_VERBS } from '../verbs/sharing/sharing-verbs.ts';
import { BOARD_VERBS } from '../verbs/board/board-verbs.ts';
import { BOOT_VERBS } from '../verbs/boot/boot-verbs.ts';
import { CHECK_VERBS } from '../verbs/check/check-verbs.ts';
import { COMMIT_VERBS } from '../verbs/sharing/commit-verbs.ts';
import { completionVerbs } from './completion-verbs.ts';
import { DELETE_VERBS } from '../verbs/delete/delete-verbs.ts';
import { DOCTOR_VERBS } from '../verbs/doctor/doctor-verbs.ts';
import { EXCHANGE_VERBS } from '../verbs/exchange/exchange-verbs.ts';
import { NOTE_VERBS } from '../verbs/notes/note-verbs.ts';
import { RESCUE_VERBS } from '../verbs/rescue/rescue-verbs.ts';
import { SETUP_VERBS } from '../verbs/setup/setup-verbs.ts';
import { SYNC_VERBS } from '../verbs/sync/sync-verbs.ts';
import { WORK_VERBS } from '../verbs/work/work-verbs.ts';
import type { VerbTable } from '../verbs/verb.ts';

/** Every verb of the command line, in the order that help shows. */
export const VERBS: VerbTable = {
  ...NOTE_VERBS,
  ...DELETE_VERBS,
  ...BOOT_VERBS,
  ...WORK_VERBS,
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
