import { statSync } from 'node:fs';
import { join } from 'node:path';
import { hash } from '../../git/hash.ts';
import { HANDOFFS, LIVE, LOST } from '../../git/namespace.ts';
import { listRefNames } from '../../git/refs.ts';
import { openRepository } from '../../git/repository.ts';
import { entries } from '../../host/disk.ts';
import { repositoryFolder } from '../../host/folders.ts';
import { LOG_FILE } from '../../host/log.ts';
import { ledgerFolder, ledgerPlaces } from '../../changes/ledger.ts';

/** Whatever nothing tells of (a process that died, a stale session) is looked for this often. Milliseconds. */
const LOOK_ANYWAY_MS = 30_000;

/** Changes when the board may have changed. One process. */
export async function boardFingerprint(cwd: string, now: number): Promise<string> {
  const { commonDir } = await openRepository(cwd);
  const refs = await listRefNames({ cwd }, [HANDOFFS, LIVE, LOST, 'refs/heads/']);
  const folder = repositoryFolder(commonDir);
  const ledgers = ledgerPlaces(commonDir).flatMap((place) =>
    entries(ledgerFolder(place)).map((name) => join(ledgerFolder(place), name)),
  );
  const files = [join(folder, LOG_FILE), join(commonDir, 'HEAD'), ...ledgers].map((file) => {
    const stat = statSync(file, { throwIfNoEntry: false });
    return `${file} ${stat?.size ?? -1} ${stat?.mtimeMs ?? 0}`;
  });
  const parts = [
    Math.floor(now / LOOK_ANYWAY_MS),
    ...refs.map(({ name, oid }) => `${name} ${oid}`),
    ...files,
  ];
  return hash('sha256', parts.join('\n'));
}
