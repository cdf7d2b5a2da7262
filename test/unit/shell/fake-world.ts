import { basename, dirname } from 'node:path/posix';
import type { PathEffect, ShellEffects, ShellWorld } from '../../../src/shell/effects.ts';

export const HOME = '/w/home';
export const MEM = `${HOME}/.claude/projects/testproj/memory`;
export const FILE = `${MEM}/handoff-main-auth-refresh.md`;
export const CWD = '/w/repo';
const REF = `${CWD}/.git/refs/handoffs/main/auth-refresh`;

const FILES = [
  FILE,
  `${MEM}/MEMORY.md`,
  `${CWD}/note.txt`,
  `${CWD}/handoff-main-auth-refresh.md`,
  `${CWD}/p.diff`,
  `${CWD}/n.diff`,
  REF,
  `${CWD}/.git/packed-refs`,
];

/** A small invented disk: the fixture's files, and the given links. */
export function fakeWorld(
  links: Readonly<Record<string, string>> = {},
  cwd = CWD,
  environment: Readonly<Record<string, string>> = {},
): ShellWorld {
  const variables: Readonly<Record<string, string>> = { HOME, ...environment };
  const paths = new Set([...FILES, ...Object.keys(links)]);
  const folders = new Set<string>(['/', '/tmp']);
  for (const path of paths) for (let up = dirname(path); up !== '/'; up = dirname(up)) folders.add(up);
  return {
    cwd,
    home: HOME,
    variable: (name) => variables[name],
    entries: (folder) =>
      [...paths, ...folders]
        .filter((path) => path !== '/' && dirname(path) === folder)
        .map((path) => basename(path)),
    isDirectory: (path) => folders.has(path) || folders.has(links[path] ?? ''),
    readLink: (path) => links[path],
    watched: (folder) => [FILE, REF].filter((path) => folder === '/' || path.startsWith(`${folder}/`)),
  };
}

function landing(effect: PathEffect, links: Readonly<Record<string, string>>): string {
  const parent = dirname(effect.path);
  const path = `${links[parent] ?? parent}/${basename(effect.path)}`;
  return (effect.follows ? links[path] : undefined) ?? path;
}

/** Whether effects change the guarded file or a handoff's ref. */
export function isHit(effects: ShellEffects, links: Readonly<Record<string, string>> = {}): boolean {
  const guarded = [FILE, REF, `${CWD}/.git/packed-refs`];
  const byPath = effects.paths.some((effect) => {
    const path = landing(effect, links);
    return guarded.some((file) => file === path || (effect.kind === 'remove' && file.startsWith(`${path}/`)));
  });
  return byPath || effects.refs.some(({ ref }) => ref === '*' || /^refs\/(?:\*$|handoffs)/.test(ref));
}

/** Fills in the placeholders of the corpus. */
export function filled(text: string): string {
  return text
    .replaceAll('@FILE@', FILE)
    .replaceAll('@MEM@', MEM)
    .replaceAll('@HOME@', HOME)
    .replaceAll('@CWD@', CWD);
}
