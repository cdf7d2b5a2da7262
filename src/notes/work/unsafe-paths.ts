import { foldedName } from '../../domain/folded-name.ts';
import type { TreeConfig } from '../../git/config.ts';
import { PrivateIndex, setEntries } from '../../git/private-index.ts';
import { gitFailure } from '../../git/run.ts';
import { type ScratchStore, scratchEnvironment } from '../../git/scratch-store.ts';
import type { TreePlace } from './places.ts';
import type { LoadedWork } from './work-commit.ts';

/** Why a path cannot be unpacked. */
export interface RefusedPath {
  readonly path: string;
  readonly why: string;
}

/** Makes git refuse names that lead into `.git` on any system, whatever the settings say. */
const ON_ANY_SYSTEM = {
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'core.protectHFS',
  GIT_CONFIG_VALUE_0: 'true',
  GIT_CONFIG_KEY_1: 'core.protectNTFS',
  GIT_CONFIG_VALUE_1: 'true',
};

/** Names that git refuses, names that this disk does not tell apart, and files below other files. */
export async function unsafePaths({
  place,
  work,
  config,
  store,
}: {
  readonly place: TreePlace;
  readonly work: LoadedWork;
  readonly config: TreeConfig;
  readonly store: ScratchStore;
}): Promise<RefusedPath[]> {
  const { items } = work.work;
  const files = new Set(items.filter(({ disk }) => disk !== null).map(({ path }) => path));
  const folded = new Map<string, string>();
  const refused: RefusedPath[] = [];
  for (const path of files) {
    const above = foldersOf(path).find((folder) => files.has(folder));
    if (above !== undefined) refused.push({ path, why: `is below ${above}, which is a file` });
    const name = config.ignoreCase ? foldedName(path) : path;
    const other = folded.get(name);
    if (other !== undefined) refused.push({ path, why: `is the same file as ${other} here` });
    folded.set(name, path);
  }
  const [oid] = work.blobs;
  if (refused.length > 0 || oid === undefined) return refused;
  const index = await PrivateIndex.fresh({ ...place, env: scratchEnvironment(store) }, null);
  try {
    // Layer by layer: a file may replace the folder of another path.
    for (const paths of layersOf(items.map(({ path }) => path))) {
      const entries = new Map(paths.map((path) => [path, { mode: '100644', oid }]));
      const result = await setEntries(place.top, entries, { ...index.env, ...ON_ANY_SYSTEM });
      if (result.code !== 0) throw gitFailure('update-index', result);
      // git skips a name that it refuses, and only says so on stderr.
      for (const [path, state] of await index.read(paths))
        if (state === null) refused.push({ path, why: 'is not a name that git accepts' });
    }
    return refused;
  } finally {
    index.remove();
  }
}

/** Splits paths into layers, so that no path is below another of its layer. */
function layersOf(paths: readonly string[]): string[][] {
  const left = new Set(paths);
  const isAbove = (path: string) => !foldersOf(path).some((folder) => left.has(folder));
  const top = paths.filter(isAbove);
  const below = paths.filter((path) => !isAbove(path));
  return below.length === 0 ? [top] : [top, ...layersOf(below)];
}

const foldersOf = (path: string) =>
  path
    .split('/')
    .slice(1)
    .map((_, at) =>
      path
        .split('/')
        .slice(0, at + 1)
        .join('/'),
    );
