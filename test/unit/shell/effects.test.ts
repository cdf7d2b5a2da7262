import { describe, expect, it } from 'vitest';
import { analyseArgv, analyseShell } from '../../../src/shell/analyse.ts';
import { CWD, FILE, HOME, MEM, fakeWorld, filled, isHit } from './fake-world.ts';

const analyse = (command: string, environment: Readonly<Record<string, string>> = {}) =>
  analyseShell(filled(command), fakeWorld({}, CWD, environment));

describe('identity', () => {
  const session = {
    CLAUDE_CODE_SESSION_ID: 'sess-1',
    GEMINI_SESSION_ID: 'gem-1',
    QWEN_CODE_SESSION_ID: 'q-1',
  };
  it.each([
    ['GIT_HANDOFF_SESSION=x git handoff list', 'GIT_HANDOFF_SESSION'],
    ['export CLAUDE_CODE_SESSION_ID=other', 'CLAUDE_CODE_SESSION_ID'],
    ['CODEX_THREAD_ID=x; export CODEX_THREAD_ID', 'CODEX_THREAD_ID'],
    ['declare -x CODEX_SESSION_ID=x', 'CODEX_SESSION_ID'],
    ['unset GEMINI_SESSION_ID', 'GEMINI_SESSION_ID'],
    ['unset QWEN_CODE_SESSION_ID', 'QWEN_CODE_SESSION_ID'],
    ['env -u CLAUDE_CODE_SESSION_ID git commit', 'CLAUDE_CODE_SESSION_ID'],
    ['env --unset=CLAUDE_CODE_SESSION_ID git commit', 'CLAUDE_CODE_SESSION_ID'],
    ['env GIT_HANDOFF=off git commit', 'GIT_HANDOFF'],
    ['GIT_HANDOFF=off git commit -m x', 'GIT_HANDOFF'],
    ['env -i git commit', 'CLAUDE_CODE_SESSION_ID'],
    ['env - git commit', 'CLAUDE_CODE_SESSION_ID'],
    ['exec -c git commit', 'CLAUDE_CODE_SESSION_ID'],
    ['sh -c "unset CLAUDE_CODE_SESSION_ID; git commit"', 'CLAUDE_CODE_SESSION_ID'],
    ['(export -n CLAUDE_CODE_SESSION_ID; git commit)', 'CLAUDE_CODE_SESSION_ID'],
    ['read CLAUDE_CODE_SESSION_ID <<< x', 'CLAUDE_CODE_SESSION_ID'],
    ['printf -v CLAUDE_CODE_SESSION_ID x', 'CLAUDE_CODE_SESSION_ID'],
    ['declare -n r=CLAUDE_CODE_SESSION_ID; r=x', 'CLAUDE_CODE_SESSION_ID'],
    ['sudo GIT_HANDOFF_SESSION=x git handoff list', 'GIT_HANDOFF_SESSION'],
    ['for CLAUDE_CODE_SESSION_ID in a b; do git handoff list; done', 'CLAUDE_CODE_SESSION_ID'],
  ])('%s', async (command, name) => {
    const names = (await analyse(command, session)).identity.map(
      (effect) => effect.kind === 'variable' && effect.name,
    );
    expect(names).toContain(name);
  });

  it.each([
    'echo CLAUDE_CODE_SESSION_ID=x',
    'grep -r GIT_HANDOFF=off docs',
    'git commit -m "GIT_HANDOFF=off turns it off"',
    'echo $CLAUDE_CODE_SESSION_ID',
    'CLAUDE_CODE_SESSION_ID=sess-1 git commit',
    'CLAUDE_CODE_SESSION_ID="$CLAUDE_CODE_SESSION_ID" git commit',
    "cat <<'EOF'\nunset CLAUDE_CODE_SESSION_ID\nEOF",
    'env -u OTHER git commit',
    'false && unset CLAUDE_CODE_SESSION_ID',
  ])('%s claims nothing', async (command) => {
    expect((await analyse(command, session)).identity).toEqual([]);
  });

  it('reports a session that is named on the command line', async () => {
    const claimed = { kind: 'session-option', value: 'x' };
    expect((await analyse('git handoff --session x write a-b')).identity).toEqual([claimed]);
    expect((await analyse('git handoff write a-b --session=x')).identity).toEqual([claimed]);
    expect((await analyse('S=x; git-handoff list --session "$S"')).identity).toEqual([claimed]);
  });
});

describe('calls of git handoff', () => {
  it.each([
    ['git handoff write auth-refresh -m x', { cwd: CWD, verb: 'write', words: ['auth-refresh', '-m', 'x'] }],
    ['git -C sub handoff list', { cwd: CWD, verb: 'list', words: [] }],
    ['cd @MEM@ && git handoff show', { cwd: MEM, verb: 'show', words: [] }],
    ['git-handoff take auth-refresh', { cwd: CWD, verb: 'take', words: ['auth-refresh'] }],
    ['/usr/local/bin/git-handoff close x-y', { cwd: CWD, verb: 'close', words: ['x-y'] }],
    ['git handoff write "$(date)"', { cwd: CWD, verb: 'write', words: [undefined] }],
    ['git handoff --session a list --all', { cwd: CWD, verb: 'list', words: ['--all'] }],
    ['git -c alias.h=handoff h list', { cwd: CWD, verb: 'list', words: [] }],
    ['echo note | git handoff write a-b', { cwd: CWD, verb: 'write', words: ['a-b'] }],
  ])('%s', async (command, call) => {
    expect((await analyse(command)).handoffCalls).toEqual([call]);
  });

  it('leaves mentions alone', async () => {
    expect((await analyse('echo git handoff write; man git-handoff')).handoffCalls).toEqual([]);
  });
});

describe('effects', () => {
  it('says what does it, and whether it follows links', async () => {
    expect((await analyse('echo x > a; sed -i s/a/b/ b; rm c')).paths).toEqual([
      { path: `${CWD}/a`, kind: 'write', follows: true, by: '>' },
      { path: `${CWD}/b`, kind: 'write', follows: false, by: 'sed -i' },
      { path: `${CWD}/c`, kind: 'remove', follows: false, by: 'rm' },
    ]);
  });

  it('gives refs in full, with the repository that they belong to', async () => {
    const refs = async (command: string) => (await analyse(command)).refs.map(({ ref, cwd }) => [ref, cwd]);
    expect(await refs('git update-ref refs/heads/x HEAD')).toEqual([['refs/heads/x', CWD]]);
    expect(await refs('git refs create --message why refs/handoffs/x HEAD')).toEqual([
      ['refs/handoffs/x', CWD],
    ]);
    expect(await refs('git refs delete refs/handoffs/x')).toEqual([['refs/handoffs/x', CWD]]);
    const renamed = await refs('git refs rename refs/heads/x refs/handoffs/x');
    expect(renamed.map(([ref]) => ref)).toEqual(['refs/heads/x', 'refs/handoffs/x']);
    expect(await refs('git refs list refs/handoffs')).toEqual([]);
    expect(await refs('git push ../other HEAD:refs/handoffs/a/b-c')).toEqual([
      ['refs/handoffs/a/b-c', '/w/other'],
    ]);
    expect(await refs('git -C ../other branch -D x')).toEqual([['refs/heads/x', CWD]]);
    expect(await refs("git fetch . '+refs/heads/*:refs/handoffs/*'")).toEqual([['refs/handoffs/*', CWD]]);
    expect(await refs('git push origin HEAD:refs/handoffs/a/b-c')).toEqual([]);
  });

  it('takes words literally when there is no shell', async () => {
    expect((await analyseArgv(['echo', 'x', '>', FILE], fakeWorld())).paths).toEqual([]);
    expect(isHit(await analyseArgv(['cp', 'note.txt', FILE], fakeWorld()))).toBe(true);
    expect(isHit(await analyseArgv(['bash', '-lc', `echo x > ${FILE}`], fakeWorld()))).toBe(true);
    expect((await analyseArgv([], fakeWorld())).paths).toEqual([]);
  });

  it('tries every value that a branch may have left behind', async () => {
    const command = 'if test -e a; then d=@MEM@; else d=/tmp; fi; n=handoff-main-auth-refresh.md; rm $d/$n';
    expect((await analyse(command)).paths.map(({ path }) => path)).toEqual(
      expect.arrayContaining([FILE, '/tmp/handoff-main-auth-refresh.md']),
    );
  });

  it.each([
    ['by its name', 'python3'],
    ['by a variable', 'p=py; ${p}thon3'],
    ['in another shell', 'sh -c \'exec python3 "$@"\' _'],
    ['by a script', 'printf \'python3 "$@"\' > run; . ./run'],
    ['for each line', 'echo "import os" | xargs -I{} python3'],
    ['at the end', 'f() { python3 "$@"; }; trap "f -c \'open(1)\'" EXIT; f'],
  ])('finds the same around a program of another language that is called %s', async (_, program) => {
    const { paths } = await analyse(`echo > a; ${program} -c 'open("b", "w")'; rm c`);
    const own = paths.map(({ path }) => path).filter((path) => path !== `${CWD}/run`);
    expect(own).toEqual([`${CWD}/a`, `${CWD}/b`, `${CWD}/c`]);
  });

  it('asks for the current branch when a name is made of it', async () => {
    const world = { ...fakeWorld(), headBranch: () => 'main' };
    const command = filled('echo x >> "@MEM@/handoff-$(git branch --show-current)-auth-refresh.md"');
    expect(isHit(await analyseShell(command, world))).toBe(true);
  });
});

describe('what commands made by a grammar brought to light (test/faults/shell-fuzz.test.ts)', () => {
  it.each([
    'for i in a b; do [ $i = b ] || continue; rm @FILE@; done',
    'while read -r l; do [ "$l" = b ] || continue; rm @FILE@; done <<< $\'a\\nb\'',
    'break; rm @FILE@',
    'return; rm @FILE@',
    'for i in a; do g() { break; rm @FILE@; }; g; done',
    'for i in a; do bash -c "break; rm @FILE@"; done',
    'g() { bash -c "return; rm @FILE@"; }; g',
    "eval -- 'rm @FILE@'",
    `perl -e 'system("rm", "-f", $ARGV[0])' @FILE@`,
    `python3 -c 'import os,sys; os.execlp("rm", "rm", "-f", sys.argv[1])' @FILE@`,
    `python3 -c 'import os,sys; os.execvp("bash", ["bash", "-c", "rm @FILE@"])'`,
    'git checkout-index -f --prefix=@MEM@/ handoff-main-auth-refresh.md',
    "awk '{print > ARGV[2]}' note.txt @FILE@",
    `F=@FILE@ awk 'BEGIN{print "x" > ENVIRON["F"]}'`,
    String.raw`awk -v c='printf \"x\" > @FILE@' 'BEGIN{system(c)}'`,
    String.raw`awk -v c='bash -c "echo \\"\\" > @FILE@"' 'BEGIN{system(c)}'`,
    `rm "$(find @MEM@ -name 'hand*')"`,
    'i=0; ((i++)); [ $i = 1 ] && rm @FILE@',
    'i=0; (( i += 2, i-- )); [[ $i == 1 ]] && rm @FILE@',
    'i=0; let i+=1; [ $i = 1 ] && rm @FILE@',
    'i=0; : $((i = 3)); [ $i = 3 ] && rm @FILE@',
    'i=5; for ((i = 0; i < 2; i++)); do [ $i = 1 ] && rm @FILE@; done',
    'n=0; while [ $n -lt 2 ]; do n=$((n + 1)); [ $n = 2 ] || continue; rm @FILE@; done',
    'if test -e a; then n=1; else n=2; fi; [ $n = 1 ] && rm @FILE@',
    'if test -e a; then n=1; else n=2; fi; [[ $n == 2 ]] && rm @FILE@',
    'if test -e a; then n=1; else n=2; fi; ((n++)); [ $n = 3 ] && rm @FILE@',
    'F=x; test -e a || F=@FILE@; while read -r q; do rm "$q"; done <<< "$F"',
    'n=a; while test -e x; do [ $n = b ] && rm @FILE@; n=b; done',
    `trap 'trap "rm @FILE@" EXIT' EXIT`,
  ])('%s', async (command) => {
    expect(isHit(await analyse(command))).toBe(true);
  });

  it.each([
    'for i in a b; do continue; rm @FILE@; done',
    'for i in a b; do break; rm @FILE@; done',
    'g() { return; rm @FILE@; }; g',
    "eval -- '[ -z x ] && rm @FILE@'",
    "awk '{print > ARGV[2]}' @FILE@ o",
    'dd if=note.txt of=@FILE@ of=o',
    'cp @FILE@ @MEM@/',
    'ln @FILE@ hl; find hl -delete',
    'ln -s @MEM@ dk; find dk -name "h*" -delete',
    'rm -rf @MEM@/. @MEM@/x/..',
    'echo x > .git/refs/handoffs',
    `echo x > "$(find . -name 'hando*' -o -name 'packed*')"`,
    "GIT_EDITOR='git commit -F @FILE@' git commit --amend",
    '[ 2 -lt 1 ] && rm @FILE@',
    '[[ 1 -eq 2 ]] && rm @FILE@',
    'i=0; ((i++)); [ $i = 2 ] && rm @FILE@',
    'while [ 3 -le 2 ]; do rm @FILE@; done',
  ])('%s changes nothing', async (command) => {
    expect(isHit(await analyse(command))).toBe(false);
  });

  it('ends with a trap that sets itself', async () => {
    expect(isHit(await analyse('f() { trap f EXIT; }; trap f EXIT'))).toBe(false);
  });
});

describe('unsure', () => {
  it.each([
    'make',
    'npm test',
    'python3 script.py',
    'sh unread.sh',
    'rm "$(cat list)"',
    'echo x > "$UNSET/$(date)"',
    'tar -xf a.tar',
    'patch -p1 < a.diff',
    'curl -s example.com | sh',
    '$(cat cmd) x',
    'echo "unterminated',
  ])('%s', async (command) => {
    expect((await analyse(command)).unsure).toBe(true);
  });

  it.each(['ls -la', 'git status', 'cat a | grep b > c', 'echo hi', 'git commit -m x', `cat ${HOME}/a`])(
    '%s is told in full',
    async (command) => {
      expect((await analyse(command)).unsure).toBe(false);
    },
  );
});
