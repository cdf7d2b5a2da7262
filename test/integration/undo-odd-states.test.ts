import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { CommitWorld, errorsOf } from '../support/commit-hooks-world.ts';
import { A, B, SED_IN_PLACE, type SharingOptions, TEN } from '../support/sharing-world.ts';

interface Row {
  readonly state: string;
  readonly options?: SharingOptions;
  /** What a person does before the sessions begin. */
  readonly before?: string;
  /** What A changes. */
  readonly change: string;
  /** Why `undo` does nothing; if it is missing, `undo` takes everything back. */
  readonly refused?: string;
  /** What `diff` leaves out, and why. */
  readonly leftOut?: string;
}

const EDIT = `${SED_IN_PLACE} 's/line 5/five/' src/a.ts`;
/** Two commits, the later of which conflicts with the branch `other`. */
const CONFLICT = `git switch -qc other; ${SED_IN_PLACE} 's/line 5/other/' shared.md; git commit -qam other
  git switch -q main; ${SED_IN_PLACE} 's/line 5/main/' shared.md; git commit -qam main`;
const IN_CONFLICT =
  'shared.md: the changes of claude aaaaaaaa overlap or touch those of others; the file is left out';
const UNUSABLE = 'it is a repository of its own, or its name is not UTF-8';

const ROWS: readonly Row[] = [
  {
    state: 'of SHA-256',
    options: { objectFormat: 'sha256' },
    change: `${EDIT}; echo x >new; ln -s new link; git add new`,
  },
  {
    state: 'with no commit yet',
    before: 'git switch -q --orphan fresh',
    change: 'mkdir d; echo x >d/x; echo y >y; git add d',
  },
  {
    state: 'checked out in part',
    options: { files: { 'docs/x.md': TEN, 'src/deep/y.md': TEN } },
    before: 'git sparse-checkout set --cone src/deep',
    change: `${EDIT} src/deep/y.md; rm shared.md; mkdir docs; echo x >docs/new.md; echo y >src/y`,
  },
  { state: 'in which a name changes its case', change: 'git mv shared.md Shared.md; echo x >>Shared.md' },
  {
    state: 'whose case counts for nothing',
    before: 'git config core.ignorecase true',
    change: 'git mv shared.md Shared.md; echo x >>Shared.md',
  },
  {
    state: 'in a rebase',
    before: `${CONFLICT}; git rebase --exec false HEAD~1 || true`,
    change: `${EDIT}; git add src; echo x >>shared.md`,
  },
  {
    state: 'in a rebase that stopped at a conflict',
    before: `${CONFLICT}; git rebase other || true`,
    change: `${EDIT}; echo solved >shared.md`,
    refused: 'shared.md: its changes overlap or touch those of others',
    leftOut: IN_CONFLICT,
  },
  {
    state: 'in a pick whose conflict is solved',
    before: `${CONFLICT}; git cherry-pick other || true`,
    change: `${EDIT}; echo solved >shared.md; git add shared.md`,
    refused: 'shared.md: its changes overlap or touch those of others',
    leftOut: IN_CONFLICT,
  },
  { state: 'with an entry that is only intended', change: `${EDIT}; echo x >new; git add -N new` },
  {
    state: 'with a file that was staged, and then removed',
    change: `${EDIT}; git add src; rm src/a.ts; echo x >new; git add new; rm new`,
  },
  {
    state: 'with links',
    before: 'ln -s a.ts src/one; ln -s a.ts src/two; git add src; git commit -qm links',
    change:
      'ln -sfn b.ts src/one; rm src/two; echo x >src/two; rm src/a.ts; ln -s b.ts src/a.ts; ln -s nowhere new; git add new',
  },
  { state: 'with a mode alone', change: 'chmod +x src/a.ts; chmod +x shared.md; git add shared.md' },
  {
    state: 'in which git looks at no mode',
    before: 'git config core.fileMode false',
    change: `git update-index --chmod=+x src/b.ts; ${EDIT}`,
  },
  {
    state: 'with a file that is a folder now, and a folder that is a file',
    options: { files: { 'd/one': 'x\n', 'd/two': 'y\n' } },
    change: 'rm shared.md; mkdir shared.md; echo x >shared.md/in; rm -r d; echo d >d; git add shared.md d',
  },
  {
    state: 'with a submodule',
    before: `git init -q ../sub; git -C ../sub commit -q --allow-empty -m sub
      git -c protocol.file.allow=always submodule --quiet add ../sub lib; git commit -qm lib`,
    change: `${EDIT}; git -C lib commit -q --allow-empty -m more`,
    refused: 'lib: it is a submodule',
  },
  {
    state: 'with a name that is not UTF-8',
    change: `${EDIT}; echo x >"$(printf 'caf\\351')"`,
    refused: `caf\ufffd: ${UNUSABLE}`,
    leftOut: `caf\ufffd: ${UNUSABLE}; it is left out`,
  },
  {
    state: 'with a repository of its own inside',
    change: `${EDIT}; git init -q inner; echo x >inner/x; git -C inner commit -q --allow-empty -m inner`,
    refused: `inner/: ${UNUSABLE}`,
    leftOut: `inner/: ${UNUSABLE}; it is left out`,
  },
  {
    state: 'that stores no CR',
    before: `echo '* text=auto eol=crlf' >.gitattributes; git add .gitattributes; git commit -qm crlf
      rm -r src shared.md; git checkout -q .`,
    change: `${EDIT}; printf 'x\\r\\n' >new; git rm -q shared.md`,
  },
  {
    state: 'with core.autocrlf',
    before: 'git config core.autocrlf true; rm -r src shared.md; git checkout -q .',
    change: `${EDIT}; printf 'x\\r\\n' >new; git add new; printf 'y\\n' >mixed`,
  },
];

let world: CommitWorld;
afterEach(() => world.remove());

/** Prints the mode, checksum and name of each file, and the target of each link. */
const TELL = `for path; do
  if [ -L "$path" ]; then printf '%s -> %s\\n' "$path" "$(readlink "$path")"; continue; fi
  if [ "$modes" = true ]; then printf '%s ' "$(ls -l "$path" | head -n 1 | cut -c 1-10)"; fi
  cksum "$path"
done`;

/** All files with their contents and modes, and the index. */
function found(): string[] {
  const modes = world.run('git', ['config', 'core.fileMode']).stdout.trim();
  const words = ['.', '-name', '.git', '-prune', '-o', '(', '-type', 'f', '-o', '-type', 'l', ')'];
  const tell = ['-exec', 'sh', '-c', TELL, 'sh', '{}', '+'];
  const { bytes } = world.run('find', [...words, ...tell], { env: { modes } });
  return [...bytes.toString('latin1').split('\n'), ...world.git(['ls-files', '--stage']).split('\n')].sort();
}

/** Two trees: of HEAD with the patch applied, and of the files on the disk. */
function trees(patch: string, without: readonly string[]): [string, string] {
  const tree = (name: string, args: readonly string[], input = '') => {
    const env = { GIT_INDEX_FILE: join(world.path, '.git', name) };
    const hasHead = world.run('git', ['rev-parse', '-q', '--verify', 'HEAD']).status === 0;
    world.git(hasHead ? ['read-tree', 'HEAD'] : ['read-tree', '--empty'], { env });
    world.git(['-c', 'core.ignorecase=false', ...args], { env, input });
    return world.git(['write-tree'], { env });
  };
  const whole = tree('whole', ['add', '-A', '--sparse', '.', ':!b.md', ...without]);
  return [tree('applied', ['apply', '--cached', '--allow-empty'], patch), whole];
}

describe('diff and undo beside another session, in a repository', () => {
  it.each(ROWS)(
    '$state: they handle everything, byte for byte, or nothing',
    ({ options, before, change, refused, leftOut }) => {
      world = new CommitWorld({ ...options });
      const set = world.run('bash', ['-c', before ?? 'true']);
      expect(set).toMatchObject({ status: 0 });
      world.begin(A);
      world.begin(B);
      world.write(B, 'b.md', 'by b\n');
      const start = found();
      expect(world.bash(A, change).run).toMatchObject({ status: 0 });
      const changed = found();

      const shown = world.handoff(['diff'], { session: A });
      expect(shown.status).toBe(0);
      expect(shown.stderr).toBe(leftOut === undefined ? '' : `notice: ${leftOut}\n`);
      const [applied, whole] = trees(
        shown.stdout,
        leftOut === undefined ? [':!docs/x.md'] : [':!inner', ':!caf*', ':!shared.md'],
      );
      expect(applied).toBe(whole);

      const undone = world.handoff(['undo'], { session: A });
      if (refused !== undefined) {
        expect(errorsOf(undone.stderr)).toEqual([`nothing was undone: ${refused}`]);
        expect(found()).toEqual(changed);
        return;
      }
      expect(undone).toMatchObject({ status: 0, stderr: '' });
      expect(found()).toEqual(start);
      const [, back = 'false'] = /^To bring them back: (.*)$/m.exec(undone.stdout) ?? [];
      expect(world.run('sh', ['-c', back], { session: A })).toMatchObject({ status: 0, stderr: '' });
      expect(found()).toEqual(changed);
    },
  );
});
