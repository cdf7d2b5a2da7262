import { type Piece, ansi, double, encoded, lapsed, mapped, octal, piece, riddle, single } from './piece.ts';

/** Puts a command inside another one; `depth` distinguishes nested here-documents. */
export type Wrapper = (command: Piece, depth: number) => Piece;

/** If `sh` does not understand a word of bash, nothing runs. */
const SH = lapsed('sh does not know a word of bash', 'sh', 'bash');

const STOPS = 'an earlier command fails, and the shell stops there';
const STRICT = lapsed(STOPS, 'set -e', 'set +e');

/** Separates a command from the wrapper: `((` would be arithmetic, and bash does not parse `$(time {`. */
function apart(command: Piece): Piece {
  if (command.text.startsWith('time')) return piece`:; ${command}`;
  return command.text.startsWith('(') ? piece` ${command}` : command;
}

/** Structures of the shell that run the command in them, in this shell or in a subshell. */
const STRUCTURES: readonly Wrapper[] = [
  (c) => piece`( ${c}\n)`,
  (c) => piece`(${apart(c)}\n)`,
  (c) => piece`{ ${c}\n}`,
  (c) => piece`\n\t${c}`,
  (c) => piece`# rm -f @FILE@\n${c}\n# > @FILE@`,
  (c) => piece`echo hi; ${c}`,
  (c) => piece`${c}\necho done`,
  (c) => piece`true && { ${c}\n}`,
  (c) => piece`false || { ${c}\n}`,
  (c) => piece`! { ${c}\n}`,
  (c) => piece`time { ${c}\n}`,
  (c) => piece`{ ${c}\n} | cat`,
  (c) => piece`echo x | { ${c}\n}`,
  (c) => piece`{ ${c}\n} 2>&1`,
  (c) => piece`{ ${c}\n} & wait`,
  (c) => piece`( ${c}\n) &\nwait`,
  (c) => piece`coproc { ${c}\n}; wait`,
  (c) => piece`if true; then ${c}\nfi`,
  (c) => piece`if ! false; then :; ${c}\nelse echo no; fi`,
  (c) => piece`if false; then :; elif [ a = a ]; then ${c}\nfi`,
  (c) => piece`if ${c}\nthen :; fi`,
  (c) => piece`if false; then echo; else ${c}\nfi`,
  (c) => piece`for i in 1; do ${c}\ndone`,
  (c) => piece`for i in a b; do [ $i = b ] || continue; ${c}\ndone`,
  (c) => piece`for ((i = 0; i < 1; i++)); do ${c}\ndone`,
  (c) => piece`while true; do ${c}\nbreak; done`,
  (c) => piece`break 2>/dev/null; ${c}`,
  (c) => piece`return 2>/dev/null; ${c}`,
  (c) => piece`for i in a; do g() { break; ${c}\n}; g 2>/dev/null; done`,
  (c) => piece`for i in a; do (break); ${c}\ndone`,
  (c) => piece`for i in a b; do [ $i = a ] && continue; ${c}\ndone`,
  (c) => piece`i=0; ((i++)); [ $i = 1 ] && { ${c}\n}`,
  (c) => piece`i=0; (( i += 2, i-- )); [[ $i == 1 ]] && { ${c}\n}`,
  (c) => piece`i=0; let i+=1; case $i in 1) ${c}\n;; esac`,
  (c) => piece`i=0; : $((i = 3)); [ $i != 0 ] && { ${c}\n}`,
  (c) => piece`i=5; for ((i = 0; i < 2; i++)); do [ $i = 1 ] || continue; ${c}\ndone`,
  (c) => piece`if [ -e missing ]; then n=1; else n=2; fi; [ $n = 2 ] && { ${c}\n}`,
  (c) => piece`[ -d .git ] && n=2 || n=1; case $n in 2) ${c}\n;; esac`,
  (c) => piece`n=1; [ -d .git ] && ((n++)); [[ $n -gt 1 ]] && { ${c}\n}`,
  (c) => piece`n=a; while [ ! -e marked ]; do [ $n = b ] && touch marked; n=b; done; ${c}`,
  (c) => piece`for i in 1; do for j in 1; do break 2; done; done; ${c}`,
  (c) => piece`for i in a b; do for j in 1; do [ $i = b ] || continue 2; ${c}\ndone; done`,
  (c) => piece`n=0; while [ $n -lt 2 ]; do n=$((n + 1)); [ $n = 2 ] || continue; ${c}\ndone`,
  (c) => piece`while read -r l; do [ "$l" = b ] || continue; ${c}\ndone < <(printf '%s\n' a b c)`,
  (c) => piece`while read -r l; do case $l in a) continue;; c) break;; esac; ${c}\ndone <<< $'a\nb\nc'`,
  (c) => piece`until ${c}\n:; do :; done`,
  (c) => piece`n=1; while [ "$n" -le 1 ]; do n=2; ${c}\ndone`,
  (c) => piece`printf 'a\\nb\\n' | while read -r l; do ${c}\ndone`,
  (c) => piece`case x in x) ${c}\n;; esac`,
  (c) => piece`case "$HOME" in /*) ${c}\n;; *) echo no;; esac`,
  (c) => piece`case ab in b*) ;; a?) ${c}\n;& c) ;; esac`,
  (c) => piece`g() { ${c}\n}; g`,
  (c) => piece`function g { ${c}\n}\ng > /dev/null`,
  (c) => piece`g() ( ${c}\n); g`,
  (c) => piece`: "$(${apart(c)}\n)"`,
  (c) => piece`x=$(${apart(c)}\n) || :`,
  (c) => piece`cat <(${apart(c)}\n)`,
  (c) => piece`[[ -n "$(${apart(c)}\n)" ]] || :`,
  (c) => piece`[[ a == a && 1 -lt 2 ]] && { ${c}\n}`,
  (c) => piece`test -n x && { ${c}\n}`,
  (c) => piece`(( 1 + 1 )) && { ${c}\n}`,
  (c) => piece`${STRICT}; ${c}`,
  (c) => piece`${lapsed(STOPS, 'set -euo pipefail', 'set -o pipefail')}\n${c}`,
  (c) => piece`export LC_ALL=C X=y; ${c}`,
  (c) => piece`cd . && { ${c}\n}`,
  (c) => piece`mkdir -p tmpd && (cd tmpd/.. && { ${c}\n})`,
  (c) => piece`[ -d .git ] && { ${c}\n}`,
  (c) => piece`{ ${c}\n} || true`,
];

/** Shells in shells: the command is quoted. */
const SHELLS: readonly Wrapper[] = [
  (c) => piece`bash -c·${mapped(c, single)}`,
  (c) => piece`bash -c ${mapped(c, double)}`,
  (c) => piece`bash -c ${mapped(c, ansi)}`,
  (c) => piece`${SH} -c·${mapped(c, single)}`,
  (c) => piece`/bin/${SH} -${lapsed(STOPS, 'ec', 'c')} ${mapped(c, double)}`,
  (c) => piece`bash -xc ${mapped(c, single)} 2>/dev/null`,
  (c) => piece`bash --norc -o pipefail -c ${mapped(c, single)} name arg`,
  (c) => piece`bash -c 'eval "$1"' _ ${mapped(c, single)}`,
  (c) => piece`bash -c 'bash -c "$0"' ${mapped(c, single)}`,
  (c) => piece`eval·${mapped(c, single)}`,
  (c) => piece`eval ${mapped(c, double)}`,
  (c) => piece`eval -- ${mapped(c, single)}`,
  (c) => piece`S=${mapped(c, single)}; eval "$S"`,
  (c) => piece`S=${mapped(c, single)} bash -c 'eval "$S"'`,
  (c) => piece`export S=${mapped(c, single)}; bash -c "$S"`,
  (c, n) => piece`bash <<'EO${String(n)}'\n${c}\nEO${String(n)}\n`,
  (c, n) =>
    piece`bash -s x <<EO${String(n)}\n${mapped(c, (text) => text.replace(/[\\$`]/g, '\\$&'))}\nEO${String(n)}\n`,
  (c) => piece`bash <<< ${mapped(c, single)}`,
  (c, n) => piece`cat > s.sh <<'EO${String(n)}'\n${c}\nEO${String(n)}\n. ./s.sh`,
  (c) => piece`env A=b·bash -c ${mapped(c, single)}`,
  (c) => piece`A=b nice -n 1 bash -c ${mapped(c, single)}`,
  (c) => piece`timeout·9·bash -c ${mapped(c, single)}`,
  (c) => piece`nohup bash -c ${mapped(c, single)} > /dev/null`,
  (c) => piece`setsid -w bash -c ${mapped(c, single)}`,
  (c) => piece`stdbuf -o0 env -- bash -c ${mapped(c, single)}`,
  (c) => piece`command bash -c ${mapped(c, single)}`,
  (c) => piece`command command eval ${mapped(c, single)}`,
  (c) => piece`(exec bash -c ${mapped(c, single)})`,
  (c) => piece`\\bash -c ${mapped(c, single)}`,
  (c) => piece`b=bash; $b -c ${mapped(c, single)}`,
  (c) => piece`export C=${mapped(c, single)}; find . -maxdepth 0 -exec bash -c 'eval "$C"' \\;`,
  (c) => piece`echo x | xargs -I@@ bash -c ${mapped(c, single)}`,
  (c) => piece`git -c alias.run=${mapped(c, (text) => single(`!bash -c ${single(text)}`))} run`,
];

/** Wrappers that contain the text of a command, but never run it. */
const CARRIERS: readonly Wrapper[] = [
  (c) => piece`echo ${mapped(c, single)}`,
  (c) => piece`echo ${mapped(c, double)} > o`,
  (c) => piece`printf %s ${mapped(c, ansi)} | cat`,
  (c, n) => piece`cat <<'EO${String(n)}'\n${c}\nEO${String(n)}\n`,
  (c, n) => piece`cat > s.sh <<'EO${String(n)}'\n${c}\nEO${String(n)}\n`,
  (c, n) => piece`: <<'EO${String(n)}'\n${c}\nEO${String(n)}\n`,
  (c) => piece`git commit -q --allow-empty -m ${mapped(c, single)}`,
  (c) => piece`grep -r ${mapped(c, single)} . > /dev/null`,
  (c) => piece`S=${mapped(c, single)}; echo "$S"`,
  (c) => piece`bash -c 'echo "$1"' _ ${mapped(c, single)}`,
  (c) => piece`cat <<< ${mapped(c, single)}`,
  (c) => piece`false && { ${c}\n}`,
  (c) => piece`true || { ${c}\n}`,
  (c) => piece`if false; then ${c}\nfi`,
  (c) => piece`while false; do ${c}\ndone`,
  (c) => piece`until :; do ${c}\ndone`,
  (c) => piece`for i in; do ${c}\ndone`,
  (c) => piece`never() { ${c}\n}`,
  (c) => piece`exit 0; ${c}`,
  (c) => piece`g() { return; ${c}\n}; g`,
  (c) => piece`for i in 1; do break; ${c}\ndone`,
  (c) => piece`! : && { ${c}\n}`,
  (c) => piece`(exec true; ${c}\n)`,
];

const THE_RUN = 'a condition is false when it runs';

/** Conditions of which only the running shell knows that they are false. `plainText` has `true` instead. */
const CONDITIONS: readonly Wrapper[] = [
  ...[
    '[ -e missing ]',
    '[ a = b ]',
    '[[ a == b* ]]',
    'test -f missing.txt',
    '[[ -s missing ]]',
    'grep -q absent note.txt',
    'cmp -s note.txt p.diff',
  ],
  ...[
    'frobnicate',
    './missing',
    '[ "$RANDOM" -lt 0 ]',
    'git diff --quiet HEAD~1',
    'cat missing',
    'cd missing',
    '(( RANDOM < 0 ))',
  ],
].flatMap((condition): Wrapper[] => [
  (c) => piece`${lapsed(THE_RUN, condition, 'true')} && { ${c}\n}`,
  (c) => piece`if ${lapsed(THE_RUN, condition, 'true')}; then ${c}\nfi`,
]);

const LOOPS: readonly Wrapper[] = [
  (c) => piece`while read -r l; do ${c}\ndone < ${lapsed(THE_RUN, 'empty.txt', 'note.txt')}`,
  (c) => piece`for i in ${lapsed(THE_RUN, '$(cat empty.txt)', 'x')}; do ${c}\ndone`,
  (c) => piece`case $(date +%Y) in ${lapsed(THE_RUN, '1999', '*')}) ${c}\n;; esac`,
  (c) => piece`${lapsed(THE_RUN, 'git rev-parse -q --verify HEAD >/dev/null', 'false')} || { ${c}\n}`,
  (c) => piece`${STRICT}; ${lapsed(THE_RUN, 'ls missing', ':')}; ${c}`,
  (c) =>
    piece`export C=${mapped(c, single)}; find . -name ${lapsed(THE_RUN, 'missing', 'note.txt')} -exec bash -c 'eval "$C"' \\;`,
  (c) => piece`xargs -r -I@@ bash -c ${mapped(c, single)} < ${lapsed(THE_RUN, 'empty.txt', 'p.txt')}`,
  (c) => piece`${lapsed(THE_RUN, 'kill $$', ':')}; ${c}`,
];

/** Programs that turn the text of a command into another one before it runs. */
const ENCODERS: readonly Wrapper[] = [
  (c) => piece`bash -c "$(${riddle("a program's output", 'base64 -d')} <<< ${mapped(c, encoded)})"`,
  (c) => piece`printf ${mapped(c, octal)} | ${riddle("a program's output", 'dd status=none')} | bash`,
  (c) => piece`printf '%s\\n' ${mapped(c, single)} | ${riddle("a program's output", 'rev')} | rev | bash`,
  (c) => piece`printf '%s\\n' ${mapped(c, single)} | ${riddle("a program's output", 'perl -pe 1')} | bash`,
];

export const WRAPPERS = {
  structures: STRUCTURES,
  shells: SHELLS,
  carriers: CARRIERS,
  conditions: [...CONDITIONS, ...LOOPS],
  encoders: ENCODERS,
} as const;

/** What may replace the blanks of a command. */
export const BLANKS: readonly string[] = [' ', '  ', '\t', ' \\\n', ' \\\n  '];
