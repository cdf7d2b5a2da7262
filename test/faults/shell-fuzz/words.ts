import fc from 'fast-check';
import { type Piece, ansi, lapsed, plain, riddle } from './piece.ts';

/** A word that names a file, and the commands that must run first. */
export interface Spelled {
  readonly before: Piece;
  readonly word: Piece;
}

/** A file that a command may be about. Placeholders as in `fixtures/hostile/README.md`. */
export interface Target {
  readonly folder: string;
  readonly name: string;
}

export const GUARDED: Target = { folder: '@MEM@', name: 'handoff-main-auth-refresh.md' };

/** Files that only look like the guarded one, or are beside it. */
const NEIGHBOURS: readonly Target[] = [
  { folder: '@MEM@', name: 'MEMORY.md' },
  { folder: '@MEM@/..', name: 'handoff-main-auth-refresh.md' },
  { folder: '@CWD@', name: 'handoff-main-auth-refresh.md' },
  { folder: '@CWD@', name: 'note.txt' },
  { folder: '@CWD@/sub', name: 'fresh.txt' },
];

export const target: fc.Arbitrary<Target> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(GUARDED) },
  { weight: 1, arbitrary: fc.constantFrom(...NEIGHBOURS) },
);

type Spelling = (target: Target & { readonly path: string }) => readonly [before: string, word: string];

const QUOTED: readonly Spelling[] = [
  ({ path }) => ['', path],
  ({ path }) => ['', `"${path}"`],
  ({ path }) => ['', `'${path}'`],
  ({ path }) => ['', `$'${path}'`],
  ({ path }) => ['', `$"${path}"`],
  ({ folder, name }) => ['', `${folder}/${name.slice(0, 3)}''${name.slice(3)}`],
  ({ folder, name }) => ['', `"${folder}/"${name.slice(0, 4)}'${name.slice(4)}'`],
  ({ folder, name }) => ['', `${folder}/${name.slice(0, 5)}\\${name.slice(5)}`],
  ({ folder, name }) => ['', `${folder}/${name.slice(0, 2)}\\\n${name.slice(2)}`],
  ({ folder, name }) => ['', `"${folder}/${name.slice(0, 2)}\\\n${name.slice(2)}"`],
  ({ folder, name }) => ['', `${folder}/$'\\x${name.charCodeAt(0).toString(16)}${name.slice(1)}'`],
  ({ folder, name }) => ['', `${folder}/$'\\${name.charCodeAt(0).toString(8)}'${name.slice(1)}`],
  ({ folder, name }) => ['', `$'${folder}/\\u00${name.charCodeAt(0).toString(16)}'"${name.slice(1)}"`],
  ({ folder, name }) => ['', `${folder}//./${name}`],
  ({ folder, name }) => ['', `${folder}/../${folder.endsWith('MEM@') ? 'memory' : '*y'}/${name}`],
];

const PATTERNS: readonly Spelling[] = [
  ({ folder, name }) => ['', `${folder}/${name.slice(0, -1)}?`],
  ({ folder, name }) => ['', `${folder}/${name.slice(0, -2)}[${name.at(-2) ?? ''}]${name.at(-1) ?? ''}`],
  ({ folder, name }) => ['', `${folder}/${name.slice(0, 4)}*${name.slice(-3)}`],
  ({ folder, name }) => ['', `"${folder}"/${name.slice(0, 5)}*`],
  ({ name }) => ['', `$HOME/.claude/projects/testproj/memory/${name}`],
  ({ name }) => ['', `"\${HOME}/.claude/projects/testproj/memory/${name}"`],
];

const VARIABLES: readonly Spelling[] = [
  ({ path }) => [`F=${path}; `, '"$F"'],
  ({ path }) => [`F=${path}\n`, '$F'],
  ({ path }) => [`export F='${path}'; `, '"${F}"'],
  ({ path }) => [`declare -r F="${path}"; `, '"$F"'],
  ({ folder, name }) => [`d=${folder} b=${name}; `, '"${d}/$b"'],
  ({ folder, name }) => [`d=${folder}; `, `"$d"/${name}`],
  ({ path }) => [`F=${path}.bak; `, '"${F%.bak}"'],
  ({ folder, name }) => [`F=${folder}/x.md; `, `"\${F%/*}/${name}"`],
  ({ path }) => [`F=xx${path}; `, '"${F#xx}"'],
  ({ folder, name }) => [`F=${folder}/${name.slice(0, 2)}ZZ${name.slice(2)}; `, '"${F/ZZ/}"'],
  ({ folder, name }) => [
    `F=${folder}/Q${name.slice(1)}; `,
    `"\${F//Q${name.charAt(1)}/${name.slice(0, 2)}}"`,
  ],
  ({ path }) => [`a=(x ${path} y); `, '"${a[1]}"'],
  ({ path }) => [`a=(${path}); `, '"${a[@]}"'],
  ({ path }) => [`set -- x ${path}; `, '"$2"'],
  ({ path }) => [`read -r F <<< ${path}; `, '"$F"'],
  ({ path }) => [`read -r F <<E\n${path}\nE\n`, '"$F"'],
  ({ folder, name }) => [`F=${folder}; F+=/${name}; `, '"$F"'],
  ({ path }) => ['', `"\${NOPE:-${path}}"`],
  ({ path }) => ['', `\${NOPE-${path}}`],
  ({ path }) => ['', `"\${NOPE:=${path}}"`],
  ({ path }) => ['', `"\${HOME:+${path}}"`],
  ({ path }) => ['', `\${NOPE}${path}$NOPE`],
];

const SUBSTITUTIONS: readonly Spelling[] = [
  ({ path }) => ['', `"$(echo ${path})"`],
  ({ path }) => ['', `\`echo ${path}\``],
  ({ path, name }) => ['', `"$(dirname ${path})"/${name}`],
  ({ folder, path }) => ['', `"${folder}/$(basename ${path})"`],
  ({ folder, name }) => ['', `"$(cd ${folder} && pwd)/${name}"`],
  ({ folder, name }) => ['', `$(ls ${folder}/${name.slice(0, 5)}*)`],
  ({ path }) => ['', `"$(cat <<E\n${path}\nE\n)"`],
  ({ path }) => [`f() { echo ${path}; }; `, '"$(f)"'],
];

const MOVES: readonly Spelling[] = [
  ({ folder, name }) => [`cd ${folder} && `, name],
  ({ folder, name }) => [`cd ${folder}; `, `./${name}`],
  ({ folder, name }) => [`cd "${folder}"\n`, `"$PWD/${name}"`],
  ({ folder, name }) => [`cd ${folder}; `, `~+/${name}`],
  ({ folder, name }) => [`cd ${folder}; cd @CWD@; `, `"$OLDPWD"/${name}`],
  ({ folder, name }) => [`pushd ${folder} >/dev/null; `, name],
  ({ folder, name }) => [`ln -s ${folder} dk; `, `dk/${name}`],
  ({ path }) => [`ln -s ${path} lk; `, 'lk'],
  ({ path }) => [`ln ${path} hl; `, 'hl'],
  ({ folder, name }) => [`cd ${folder} && cd - >/dev/null && `, name],
  ({ folder, name }) => [`(cd ${folder}); `, name],
];

/** Words that nobody can expand without reading files or running programs. */
const RIDDLES: readonly Spelled[] = [
  ...['"$(cat p.txt)"', '$(< p.txt)', '"$(head -1 p.txt)"', '`sed -n 1p p.txt`'].map((word) => ({
    before: plain(''),
    word: riddle('a file says the path', word),
  })),
  { before: riddle('a file says the path', 'read -r F < p.txt; '), word: plain('"$F"') },
  { before: riddle('a file says the path', '. ./vars.sh; '), word: plain('"$P"') },
  { before: plain(''), word: riddle("a program's output", `"$(python3 -c 'print("@FILE@")')"`) },
  { before: plain(''), word: riddle("a program's output", '"$(echo x@FILE@ | cut -c2-)"') },
  { before: plain(''), word: riddle("a program's output", `"$(rev <<< '@ELIF@')"`) },
];

const GLUED = 'what is glued to an option is not expanded';
const TWO = 'two words stand where one is meant';

const SEVERAL = 'find prints more than one name';

/** Spellings that do not always mean the one file, each with a plain spelling that does. */
const FRAIL: readonly ((target: Target) => Spelled)[] = [
  ...['~/.claude/projects/testproj/memory', '~/.claude/projects/*/memory', '~/.cl*/pro*/t*/m*y'].map(
    (folder) =>
      ({ name }: Target): Spelled => ({
        before: plain(''),
        word: lapsed(GLUED, `${folder}/${name}`, `@MEM@/${name}`),
      }),
  ),
  ({ folder, name }) => ({
    before: plain(''),
    word: lapsed(
      SEVERAL,
      `"$(find ${folder} -name '${name.slice(0, 5)}*')"`,
      `${folder.startsWith('@MEM@') ? '@MEM@' : folder}/${name}`,
    ),
  }),
  ...(
    [
      ({ folder, name }) => `${folder}/{${name},}`,
      ({ folder, name }) => `${folder}/{${name.slice(0, 4)},x}${name.slice(4)}`,
      ({ folder, name }) => `{${folder},/nowhere}/${name}`,
    ] satisfies ((target: Target) => string)[]
  ).map((spell) => (at: Target): Spelled => ({
    before: plain(''),
    word: lapsed(TWO, spell(at), `${at.folder}/${at.name}`),
  })),
];

const named = fc.tuple(
  target,
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...QUOTED) },
    { weight: 2, arbitrary: fc.constantFrom(...PATTERNS) },
    { weight: 4, arbitrary: fc.constantFrom(...VARIABLES) },
    { weight: 2, arbitrary: fc.constantFrom(...SUBSTITUTIONS) },
    { weight: 2, arbitrary: fc.constantFrom(...MOVES) },
  ),
);

const escaped = target.map(({ folder, name }): Spelled => {
  return { before: plain(''), word: plain(ansi(`${folder}/${name}`)) };
});

/** A file of the fixture in one of many spellings. */
export const spelled: fc.Arbitrary<Spelled> = fc.oneof(
  {
    weight: 24,
    arbitrary: named.map(([at, spelling]) => {
      const [before, word] = spelling({ ...at, path: `${at.folder}/${at.name}` });
      return { before: plain(before), word: plain(word) };
    }),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(target, fc.constantFrom(...FRAIL)).map(([at, spell]) => spell(at)),
  },
  { weight: 1, arbitrary: escaped },
  { weight: 1, arbitrary: fc.constantFrom(...RIDDLES) },
);
