import { join } from 'node:path';
import { escapeLine } from '../../domain/surfacing.ts';
import { entries } from '../../host/disk.ts';
import { parseComplaint } from '../../install/parse-script.ts';
import type { CheckShape } from '../shapes.ts';
import { doctorLine } from './finding.ts';

/**
 * Whether the machine's own `/bin/sh` can parse the launcher and what git's hooks start: one that it cannot parse ends at
 * once, silently, and nothing is checked.
 *
 * @param packageRoot the folder that holds `bin/` and `git-hooks/`
 */
export function checkScripts(packageRoot: string): CheckShape[] {
  const hooks = join(packageRoot, 'git-hooks');
  const scripts = [
    { path: join(packageRoot, 'bin', 'git-handoff'), effect: 'calls pass unguarded' },
    ...entries(hooks)
      .sort()
      .map((name) => ({ path: join(hooks, name), effect: 'commits and pushes go unchecked' })),
  ];
  return scripts.flatMap(({ path, effect }) => {
    const complaint = parseComplaint(path);
    if (complaint === undefined) return [];
    const detail = `/bin/sh of this machine cannot parse ${escapeLine(path)}: ${effect} (${escapeLine(complaint)})`;
    return [doctorLine('scripts', 'problem', detail, 'npm i -g git-handoff')];
  });
}
