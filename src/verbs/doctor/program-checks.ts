import { join } from 'node:path';
import { escapeLine } from '../../domain/surfacing.ts';
import { stateFolder } from '../../host/folders.ts';
import { readSettingsText } from '../../install/client-packages.ts';
import { isExecutable, programsOnPath } from '../../install/programs.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CheckShape } from '../shapes.ts';
import { doctorLine } from './finding.ts';

/** What the hooks are started with: Node, and the program of our name that PATH leads to. */
export function checkPrograms({ env }: Context): CheckShape[] {
  return [...checkNode(env), ...checkName(env)];
}

/** Hooks take the Node that `init` stored; without it the one on the client's PATH, which may be none. */
function checkNode(env: NodeJS.ProcessEnv): CheckShape[] {
  const file = join(stateFolder(env), 'node');
  const stored = readSettingsText(file)?.replace(/\n$/, '');
  if (stored === undefined || isExecutable(Buffer.from(stored, 'latin1').toString('utf8'))) return [];
  const folders = (env['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/'));
  const other = folders.some((folder) => isExecutable(join(folder, 'node')));
  const gone = `the Node that hooks are started with is gone (${escapeLine(stored)})`;
  return other
    ? [doctorLine('node', 'warning', `${gone}: they take the one on PATH`, 'git handoff init')]
    : [
        doctorLine(
          'node',
          'problem',
          `${gone}, and PATH has no Node either: every call passes unguarded`,
          'git handoff init',
        ),
      ];
}

function checkName(env: NodeJS.ProcessEnv): CheckShape[] {
  const found = programsOnPath(env);
  const others = found.filter(({ isOurs }) => !isOurs);
  return others.map(({ path }) => {
    const isFirst = found[0]?.path === path;
    const detail = `${escapeLine(path)} is another program of the same name`;
    const hint = `put the folder of git-handoff's own program before it on PATH, or remove it`;
    return isFirst
      ? doctorLine(
          'program',
          'problem',
          `${detail}, and the first on PATH: git handoff and project hooks start it`,
          hint,
        )
      : doctorLine('program', 'warning', `${detail}, behind ours on PATH`);
  });
}
