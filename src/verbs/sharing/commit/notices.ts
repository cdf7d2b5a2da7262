import type { CommitScene } from './scene.ts';
import type { Share, Shares } from '../../../domain/ledger/shares.ts';
import { shortId } from '../../../domain/names.ts';
import { escapeLine, listed } from '../../../domain/surfacing.ts';

/** Told of what is committed as it is on the disk: another session's command has changed it, too. */
export function doubtNotices({ whole }: Shares): string[] {
  return whole.flatMap(({ dirty, doubts: [first] }) =>
    first === undefined
      ? []
      : [
          `${escapeLine(dirty.path)} was also changed while a command of session ${shortId(first.session)} ran`,
        ],
  );
}

/** Told of what was left out: others' files that a command of this session changed by the way. */
export function passedNotices(passed: readonly Share[]): string[] {
  const [first] = passed;
  if (first === undefined) return [];
  const names = listed(passed.map(({ dirty }) => escapeLine(dirty.path)));
  const owners = [...new Set(passed.flatMap(({ others }) => others.map(({ session }) => session)))];
  return [
    `left out: ${names}, uncommitted work of session ${owners.map(shortId).join(', ')} that a command ` +
      'of this session only touched; its owner commits it as it is on the disk',
  ];
}

/** The commit holds HEAD's part; the file on the disk does not, and is left as it is. */
export function olderNotices({ shares, typed }: CommitScene): string[] {
  return shares.contended.flatMap(({ dirty: { path }, others }) =>
    others.length > 0
      ? []
      : [`${path} on the disk lacks what HEAD gained there: git diff HEAD -- ${typed(path)}`],
  );
}
