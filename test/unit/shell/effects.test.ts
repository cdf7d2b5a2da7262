import { describe, expect, it } from 'vitest';
import { analyseArgv, analyseShell } from '../../../src/shell/analyse.ts';
import { HOME, CWD, FILE, MEM, fakeWorld, filled, isHit } from './fake-world.ts';

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
    ['((CODEX_THREAD_ID = 1)); let CLAUDE_CODE_SESSION_ID+=1', 'CLAUDE_CODE_SESSION_ID'],
    ['mapfile CLAUDE_CODE_SESSION_ID < x', 'CLAUDE_CODE_SESSION_ID'],
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

  it('reports a session named on the command line', async () => {
    const claimed = { kind: 'session-option', value: 'x' };
    expect((await analyse('git handoff --session x write a-b')).identity).toEqual([claimed]);
    expect((await analyse('git handoff write a-b --session=x')).identity).toEqual([claimed]);
    expect((await analyse('S=x; git-handoff list --session "$S"')).identity).toEqual([claimed]);
  });
});

describe('calls of git handoff', () => {
  it.each([
    ['git handoff write auth-refresh -m x', { cwd: CWD, verb: 'write', words: ['auth-refresh', '-m', 'x'] }],
    ['git -C sub handoff list', { cwd: `${CWD}/sub`, verb: 'list', words: [] }],
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

describe('an alias with the name of a git command', () => {
  it.each(['switch', 'reset', 'merge', 'cherry-pick', 'revert', 'mv', 'worktree', 'tag'])(
    'is ignored, as git ignores it: %s',
    async (verb) => {
      const { gitCalls } = await analyse(`git -c alias.${verb}=status ${verb} x`);
      expect(gitCalls.map((call) => call.verb)).toEqual([verb]);
    },
  );
});

describe('effects', () => {
  it.each(["sed -i '' s/a/b/ b", "sed -i '' -e s/a/b/ b", "sed -i '' -f script b"])(
    'include what %s writes: a Mac’s sed needs an argument after -i, which may be empty',
    async (command) => {
      const written = { path: `${CWD}/b`, kind: 'write', follows: false, by: 'sed -i' };
      expect((await analyse(command)).paths).toEqual([written]);
    },
  );

  it('name their program, and whether it follows links', async () => {
    expect((await analyse('echo x > a; sed -i s/a/b/ b; rm c')).paths).toEqual([
      { path: `${CWD}/a`, kind: 'write', follows: true, by: '>' },
      { path: `${CWD}/b`, kind: 'write', follows: false, by: 'sed -i' },
      { path: `${CWD}/c`, kind: 'remove', follows: false, by: 'rm' },
    ]);
  });

  it.each([
    ["perl -0pi -e 's/a/b/' c", 'c'],
    ["perl -0777pi -e 's/a/b/' c", 'c'],
    ["perl -lpi -e 's/a/b/' c", 'c'],
    ["perl -i -0pe 's/a/b/' c", 'c'],
  ])('sees the file that is edited in place: %s', async (command, file) => {
    expect((await analyse(command)).paths.map(({ path }) => path)).toEqual([`${CWD}/${file}`]);
  });

  it('include what rsync writes and deletes; its -t takes no folder', async () => {
    expect((await analyse('rsync -avt note.txt c')).paths.map(({ path }) => path)).toEqual([`${CWD}/c`]);
    expect((await analyse('rsync -og note.txt c')).paths.map(({ path }) => path)).toEqual([`${CWD}/c`]);
    expect(isHit(await analyse('rsync -rt --delete-excluded /tmp/ @MEM@/'))).toBe(true);
  });

  it.each(['prettier --config a --write b', 'eslint --fix --ignore-path a b', 'black --config a b'])(
    'do not include a formatter’s configuration, which it only reads: %s',
    async (command) => {
      expect((await analyse(command)).paths.map(({ path }) => path)).toEqual([`${CWD}/b`]);
    },
  );

  it('do not include a dry run of git mv, which moves nothing', async () => {
    expect((await analyse('git mv -n a b; git mv --dry-run a b; git mv -vn a b')).paths).toEqual([]);
    expect((await analyse('git mv -fv a b')).paths.map(({ path }) => path)).toEqual([`${CWD}/a`, `${CWD}/b`]);
  });

  it('name refs in full, with their repository', async () => {
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
    expect(await refs('git -C ../other branch -D x; git tag x; git notes add')).toEqual([]);
    expect(await refs("git fetch . '+refs/heads/*:refs/handoffs/*'")).toEqual([['refs/handoffs/*', CWD]]);
    expect(await refs('git push origin HEAD:refs/handoffs/a/b-c')).toEqual([]);
  });

  it('take words literally if there is no shell', async () => {
    expect((await analyseArgv(['echo', 'x', '>', FILE], fakeWorld())).paths).toEqual([]);
    expect(isHit(await analyseArgv(['cp', 'note.txt', FILE], fakeWorld()))).toBe(true);
    expect(isHit(await analyseArgv(['bash', '-lc', `echo x > ${FILE}`], fakeWorld()))).toBe(true);
    expect((await analyseArgv([], fakeWorld())).paths).toEqual([]);
  });

  it('are unknown after a conditional branch that may have run', async () => {
    const command = 'd=/tmp; if test -e a; then d=@MEM@; e=x; fi; rm $d/x "$e"; f=y; test -e a && f=y; rm $f';
    expect((await analyse(command)).paths.map(({ path }) => path)).toEqual([`${CWD}/y`]);
  });

  it.each([
    ['by its name', 'python3'],
    ['by a variable', 'p=py; ${p}thon3'],
    ['in another shell', 'sh -c \'exec python3 "$@"\' _'],
    ['by a script', 'echo \'python3 "$@"\' > run; . ./run'],
    ['for each line', 'echo "import os" | xargs -I{} python3'],
  ])('reads on behind a program of another language that is called %s', async (_, program) => {
    const { paths, folders } = await analyse(`echo > a; ${program} -c 'open("b", "w")'; rm c`);
    const own = paths.map(({ path }) => path).filter((path) => path !== `${CWD}/run`);
    expect([own, folders]).toEqual([[`${CWD}/a`, `${CWD}/c`], [CWD]]);
  });

  it('depend on the current branch if a name contains it', async () => {
    const world = { ...fakeWorld(), headBranch: () => 'main' };
    const command = filled('echo x >> "@MEM@/handoff-$(git branch --show-current)-auth-refresh.md"');
    expect(isHit(await analyseShell(command, world))).toBe(true);
  });
});

describe('defects that generated commands revealed (test/faults/shell-fuzz.test.ts)', () => {
  it.each([
    'for i in a b; do [ $i = b ] || continue; rm @FILE@; done',
    'while read -r l; do [ "$l" = b ] || continue; rm @FILE@; done <<< $\'a\\nb\'',
    'break; rm @FILE@',
    'return; rm @FILE@',
    'for i in a; do g() { break; rm @FILE@; }; g; done',
    'for i in a; do bash -c "break; rm @FILE@"; done',
    'g() { bash -c "return; rm @FILE@"; }; g',
    "eval -- 'rm @FILE@'",
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
    'n=a; while test -e x; do [ $n = b ] && rm @FILE@; n=b; done',
    'test -e x && echo there || rm @FILE@',
    'test -e x && cd @MEM@ && echo there && rm hand*',
    'rm @MEM@/hand{le,o{x,ff-main-auth-{a,refresh}}}.md',
    'rm @MEM@/{a","b,$(echo x,),handoff}-main-{1..3,auth-refresh}.md',
  ])('%s', async (command) => {
    expect(isHit(await analyse(command))).toBe(true);
  });

  it.each([
    'for i in a b; do continue; rm @FILE@; done',
    'for i in a b; do break; rm @FILE@; done',
    'g() { return; rm @FILE@; }; g',
    'dd if=note.txt of=@FILE@ of=o',
    'cp @FILE@ @MEM@/',
    'ln @FILE@ hl; find hl -delete',
    'ln -s @MEM@ dk; find dk -name "h*" -delete',
    'rm -rf @MEM@/. @MEM@/x/..',
    'echo x > .git/refs/handoffs',
    `echo x > "$(find . -name 'hando*' -o -name 'packed*')"`,
    "GIT_EDITOR='git commit -F @FILE@' git commit --amend",
  ])('%s changes nothing', async (command) => {
    expect(isHit(await analyse(command))).toBe(false);
  });
});

describe('a program text that the analysis does not read', () => {
  it.each([
    `python3 -c "open('@FILE@', 'a').write('x')"`,
    `python3 -c "import os; open(os.environ['HOME'] + '/.claude/projects/testproj/memory/handoff-main-auth-refresh.md', 'w')"`,
    `python3 -c "from pathlib import Path; handoff = Path('@FILE@'); handoff.write_text('done')"`,
    `node -e "handoffFs.writeFileSync(handoffPath = '@FILE@', data)"`,
    `ruby -e "handoff = Pathname.new('@FILE@'); handoff.delete"`,
    `python3 - <<'E'\nimport shutil\nshutil.rmtree('@MEM@')\nE`,
    `node -e 'require("fs").rmSync("@FILE@")'`,
    `perl -e 'open(F, ">", "@FILE@")'`,
    `ruby -e 'File.write("@FILE@", "x")'`,
    `awk '{ print > "@FILE@" }' note.txt`,
    `gawk -i inplace '{ print }' @FILE@`,
    `vim -es -c wq @FILE@`,
    `sqlite3 :memory: '.output @FILE@' 'select 1;'`,
    `cat > x.py <<'E'\nopen('@FILE@', 'w')\nE\npython3 x.py`,
    'some-tool --in-place @FILE@',
    'some-tool --run "rm -f @FILE@"',
    'trap "rm @FILE@" EXIT',
    `python3 -c 'import os; os.system("git update-ref -d refs/handoffs/main/auth-refresh")'`,
    `node <<'E'\nexecSync('git push . :refs/handoffs/main/auth-refresh')\nE`,
    `sed -n 'w @FILE@' note.txt`,
    `sed -i '' 'w @FILE@' note.txt`,
  ])('counts as writing the guarded path that it spells: %s', async (command) => {
    expect(isHit(await analyse(command))).toBe(true);
  });

  it.each([
    `python3 -c "print(open('@FILE@').read())"`,
    `python3 -c "open('out.txt', 'w').write(open('@FILE@', 'r').read())"`,
    `node -e "console.log(fs.readFileSync('@FILE@', 'utf8'))"`,
    `awk '$1 > 3' @FILE@`,
    `awk '{ print > "out" }' @FILE@`,
    `awk '{ print }' ${HOME}/Rm-tool/../.claude/projects/testproj/memory/handoff-main-auth-refresh.md`,
    `perl -ne 'print if /x/' @FILE@`,
    'some-pager @FILE@',
    'some-tool --in-place note.txt; cat @FILE@',
    `python3 -c 'print("refs/handoffs/main/auth-refresh")'`,
    `python3 -c "open('docs/handoff.md', 'w')"`,
  ])('may read it: %s', async (command) => {
    expect(isHit(await analyse(command))).toBe(false);
  });

  it('counts as a write if it mentions a hook or our own folder', async () => {
    const paths = async (command: string) => (await analyse(command)).paths.map(({ path }) => path);
    expect(await paths(`python3 -c "open('.git/hooks/pre-commit', 'w')"`)).toEqual([
      `${CWD}/.git/hooks/pre-commit`,
    ]);
    expect(await paths(`ruby -e 'FileUtils.rm_r ".git/handoff/sessions"'`)).toEqual([
      `${CWD}/.git/handoff/sessions`,
    ]);
  });

  it('marks the folder where it may have changed anything', async () => {
    const folders = async (command: string) => (await analyse(command)).folders;
    for (const command of [
      'make',
      'npm test',
      'python3 x.py',
      'sh unread.sh',
      'some-tool --in-place a',
      'tool',
    ])
      expect(await folders(command), command).toEqual([CWD]);
    for (const command of ['ls -la', 'git status', "awk '{ print }' a", 'cat a | grep b'])
      expect(await folders(command), command).toEqual([]);
  });
});
