import type { CommitScene } from './scene.ts';
import type { Share } from '../../../domain/ledger/shares.ts';
import { peerName, peerNames } from '../../../domain/owner-name.ts';
import { escapeLine, listed } from '../../../domain/surfacing.ts';

/** Notices about what is committed as it is on disk: another session's command has changed it, too. */
export function doubtNotices({ shares: { whole }, asker }: CommitScene): string[] {
  return whole.flatMap(({ dirty, doubts: [first] }) =>
    first === undefined
      ? []
      : [
          `${escapeLine(dirty.path)} was also changed while a command of ${peerName(first.session, asker.sides)} ran`,
        ],
  );
}

/** Notices about what was left out: others' files that a command of this session changed by the way. */
export function passedNotices(passed: readonly Share[], { asker }: CommitScene): string[] {
  const [first] = passed;
  if (first === undefined) return [];
  const names = listed(passed.map(({ dirty }) => escapeLine(dirty.path)));
  const owners = passed.flatMap(({ others }) => others.map(({ session }) => session));
  return [
    `left out: ${names}, uncommitted work of ${peerNames(owners, asker.sides)} that a command ` +
      'of this session only touched; its owner commits the file as it is on disk',
  ];
}

/** The commit holds HEAD's part; the file on the disk does not, and is left as it is. */
export function olderNotices({ shares, typed }: CommitScene): string[] {
  return shares.contended.flatMap(({ dirty: { path }, others }) =>
    others.length > 0
      ? []
      : [`${path} on disk lacks a change that HEAD has: git diff HEAD -- ${typed(path)}`],
  );
}
