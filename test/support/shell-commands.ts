/** Makes commands that change the guarded file, read it, or only look as if, in many spellings and nestings. */

const DIR = '@MEM@';
const BASE = 'handoff-main-auth-refresh.md';
const PATH = `${DIR}/${BASE}`;
const BELOW_HOME = '.claude/projects/testproj/memory';

/** Text that comes before a command, and the word that then names the guarded file. */
type Spelling = readonly [before: string, word: string];

const SPELLINGS: readonly Spelling[] = [
  ['', PATH],
  ['', `"${PATH}"`],
  ['', `'${PATH}'`],
  ['', `$'${PATH}'`],
  ['', `~/${BELOW_HOME}/${BASE}`],
  ['', `"\${HOME}/${BELOW_HOME}/${BASE}"`],
  ['', `${DIR}/hand''off-main-auth-refresh.md`],
  ['', `${DIR}/handoff\\-main-auth-refresh.md`],
  ['', `${DIR}/../memory/${BASE}`],
  ['', `${DIR}/handoff-main-auth-refresh.m[d]`],
  ['', `"\${NOPE:-${PATH}}"`],
  ['', `"$(echo ${PATH})"`],
  ['', `\`echo ${PATH}\``],
  ['', `"$(dirname ${PATH})"/${BASE}`],
  [`F=${PATH}; `, '"$F"'],
  [`d=${DIR} b=${BASE}; `, '"${d}/$b"'],
  [`export F=${PATH}; `, '$F'],
  [`F=${PATH}.x; `, '"${F%.x}"'],
  [`F=${DIR}/x; `, `"\${F%/*}/${BASE}"`],
  [`F=${DIR}/handoff-MAIN-auth-refresh.md; `, '"${F/MAIN/main}"'],
  [`F=${PATH}; G=F; `, '"${!G}"'],
  [`a=(x ${PATH}); `, '"${a[1]}"'],
  [`set -- ${PATH}; `, '"$1"'],
  [`read -r F <<< ${PATH}; `, '"$F"'],
  [`printf -v F '%s' ${PATH}; `, '"$F"'],
  [`cd ${DIR} && `, BASE],
  [`cd ${DIR}/..; `, `memory/${BASE}`],
  [`pushd ${DIR} >/dev/null; `, BASE],
  [`ln -s ${DIR} dk; `, `dk/${BASE}`],
];

const COMMANDS: readonly string[] = [
  'echo x > %',
  'echo x >> %',
  '> % echo x',
  'echo x | tee %',
  'cp @CWD@/note.txt %',
  'dd if=@CWD@/note.txt of=%',
  'truncate -s 0 %',
  `sh -c 'echo x > "$1"' _ %`,
  'sort -o % @CWD@/note.txt',
  'printf x >| %',
  '{ echo x; } > %',
  'echo % | xargs truncate -s 0',
  `python3 -c "import sys; open(sys.argv[1],'w')" %`,
  `perl -e 'open(F,">",$ARGV[0])' %`,
  `awk -v f=% 'BEGIN{print "x" > f}'`,
  'f() { echo x > "$1"; }; f %',
  'for q in %; do echo x > "$q"; done',
  'tee % <<< x',
  'exec 7> %',
  'rm -f -- %',
  'mv % @CWD@/moved',
  'mv @CWD@/note.txt %',
  'sed -i s/secret/gone/ %',
  "perl -pi -e 's/secret/gone/' %",
  'ln -f @CWD@/note.txt %',
  'install @CWD@/note.txt %',
  'find % -delete',
  'cat % > @CWD@/o',
  'cp % @CWD@/o',
  'grep x % >> @CWD@/o',
  'sed -n p % > @CWD@/o',
  'echo rm %',
  'head -1 < % | tee @CWD@/o',
  `python3 -c "import sys; open('@CWD@/o','w').write(open(sys.argv[1]).read())" %`,
  `awk '{print > "@CWD@/o"}' %`,
  'dd if=% of=@CWD@/o',
  '[ -f % ] && echo y > @CWD@/o',
  'echo % | xargs cat',
  `sh -c 'cat "$1" > @CWD@/o' _ %`,
  'cat <<E > @CWD@/o\nrm %\nE\n',
  ': % # > x',
  'touch %',
  'chmod 644 %',
];

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** What runs a command all the same, and (the last ones) what only carries its text. */
const WRAPPERS: readonly ((command: string) => string)[] = [
  (c) => `( ${c}\n)`,
  (c) => `{ ${c}\n}`,
  (c) => `if true; then ${c}\nfi`,
  (c) => `false || { ${c}\n}`,
  (c) => `bash -c ${quoted(c)}`,
  (c) => `eval ${quoted(c)}`,
  (c) => `: "$(${c}\n)"`,
  (c) => `bash <<'EOS'\n${c}\nEOS\n`,
  (c) => `bash <<< ${quoted(c)}`,
  (c) => `printf '%s' ${quoted(c)} | bash`,
  (c) => `for i in 1; do ${c}\ndone`,
  (c) => `g() { ${c}\n}; g`,
  (c) => `( ${c}\n) | cat`,
  (c) => `case x in x) ${c}\n;; esac`,
  (c) => `while true; do ${c}\nbreak; done`,
  (c) => `trap ${quoted(c)} EXIT`,
  (c) => `timeout 5 bash -c ${quoted(c)}`,
  (c) => `coproc { ${c}\n}; wait`,
  (c) => `false && { ${c}\n}`,
  (c) => `if false; then ${c}\nfi`,
  (c) => `never() { ${c}\n}`,
  (c) => `cat <<'EOS'\n${c}\nEOS\n`,
  (c) => `echo ${quoted(c)}`,
  (c) => `case x in y) ${c}\n;; esac`,
  (c) => `git commit -q --allow-empty -m ${quoted(c)}`,
];

/** An endless row of numbers from 0 to below 1 that a seed decides (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Composes one command from a spelling of the path, a use of it and up to two wrappers. */
export function composeCommand(random: () => number): string {
  const pick = <T>(list: readonly T[]): T => {
    const item = list[Math.floor(random() * list.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  };
  const [before, word] = pick(SPELLINGS);
  let command = before + pick(COMMANDS).replaceAll('%', () => word);
  for (let depth = Math.floor(random() * 3); depth > 0; depth--) command = pick(WRAPPERS)(command);
  return command;
}
