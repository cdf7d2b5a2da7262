/** Functions and methods of scripting languages that change files, and which of their arguments they change. */
export interface CodeVerb {
  /** Arguments that name what is written; none: the receiver (`Path(x).unlink()`). */
  readonly writes?: readonly number[];
  /** Arguments that name what is removed or moved away. */
  readonly removes?: readonly number[] | 'all';
  /** The receiver is what is written or removed when the call has too few arguments. */
  readonly receiver?: 'write' | 'remove';
  /** Only with one of these names before the dot. */
  readonly of?: RegExp;
}

const WRITE_FIRST: CodeVerb = { writes: [0] };
const WRITE_SECOND: CodeVerb = { writes: [1] };
const REMOVE: CodeVerb = { removes: 'all', receiver: 'remove' };
const MOVE: CodeVerb = { removes: [0], writes: [1], receiver: 'remove' };
const WRITE_RECEIVER: CodeVerb = { receiver: 'write' };

const TABLE: readonly (readonly [names: string, verb: CodeVerb])[] = [
  [
    'writeFileSync writeFile appendFileSync appendFile createWriteStream truncateSync writeTextFile writeTextFileSync ' +
      'outputFile outputFileSync outputJson outputJsonSync writeJson writeJsonSync writeJSON file_put_contents ' +
      'write_file append_file to_csv to_json to_excel to_parquet to_pickle savefig sink writeFileStr',
    WRITE_FIRST,
  ],
  ['truncate', { writes: [0] }],
  ['write binwrite', { writes: [0], of: /^(?:File|IO|Bun|Deno)$/ }],
  ['write_text write_bytes spew spew_utf8 spew_raw append_utf8 write_lines', WRITE_RECEIVER],
  [
    'copyFileSync copyFile copySync cpSync copyfile copy2 copytree urlretrieve symlinkSync linkSync symlink link ' +
      'writeLines copy_file',
    WRITE_SECOND,
  ],
  ['copy cp copy_entry', WRITE_SECOND],
  ['ln ln_s ln_sf', { writes: [1], of: /^FileUtils$/ }],
  [
    'unlink unlinkSync rmSync rm_rf rm_r rm_f rmtree rimraf rimrafSync removeSync remove_tree remove_dir remove_file ' +
      'remove_entry delete_file',
    REMOVE,
  ],
  ['rm remove', { removes: [0], receiver: 'remove' }],
  ['delete', { removes: 'all', of: /^(?:File|Dir|Pathname)$/ }],
  ['rename renameSync renames move moveSync mv', MOVE],
  ['replace', { ...MOVE, of: /^os$/ }],
];

export const CODE_VERBS: ReadonlyMap<string, CodeVerb> = new Map(
  TABLE.flatMap(([names, verb]) => names.split(' ').map((name) => [name, verb] as const)),
);

/** Functions that open a file in the mode that another argument names. */
export const OPENERS: ReadonlySet<string> = new Set(
  'open openSync fopen fdopen sysopen File FileInput input sopen new GzipFile ZipFile TarFile gzopen'.split(
    ' ',
  ),
);

/** Functions that run a command of the shell, or a program by its words. */
export const RUNNERS: ReadonlySet<string> = new Set(
  (
    'system popen Popen run call check_call check_output getoutput getstatusoutput exec execSync execFile execFileSync ' +
    'spawn spawnSync shell_exec passthru proc_open execvp execv execl execlp popen2 popen3 capture2 capture2e capture3 ' +
    'pclose execute readpipe'
  ).split(' '),
);
