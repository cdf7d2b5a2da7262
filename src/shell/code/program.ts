import { isKnown, UNKNOWN } from '../unknown.ts';
import { isMark, SourceText } from './source.ts';
import type { Token } from './tokens.ts';
import { splitAt, type Surroundings } from './values.ts';

/** What a program's text does beside computing. */
interface CodeEffects {
  readonly writes: ReadonlySet<string>;
  readonly removes: ReadonlySet<string>;
  /** Shell commands that it runs. */
  readonly commands: readonly string[];
  /** Programs that it starts by their words. */
  readonly calls: readonly (readonly string[])[];
  /** Code of its own language that it evaluates. */
  readonly code: readonly string[];
  /** Folders that it changes to. */
  readonly folders: ReadonlySet<string>;
  /** False when the code was too large or too nested to be read to its end. */
  readonly isComplete: boolean;
}

const WRITE_MODE = /[wax+>c]/;
const OPEN_FLAG = /^(?:O_)?(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)$/;
const NOT_A_PATH =
  /^(?:io|os|codecs|gzip|bz2|lzma|File|fs|fsp|promises|IO|Kernel|Deno|builtins|zipfile|tarfile|fileinput|posix)$/;
const REPLACE: CodeVerb = { removes: [], writes: [0], receiver: 'remove' };

/** Finds the write verbs of a program's text and the literal paths aimed at. */
export function readCode(code: string, world: Surroundings): CodeEffects {
  return new Reader(code, world).read();
}

interface Found {
  readonly name: string;
  /** The name before the dot, '' for a plain function. */
  readonly owner: string;
  readonly at: number;
  readonly isMember: boolean;
  readonly args: readonly (readonly Token[])[];
}

class Reader {
  readonly #source: SourceText;
  readonly #world: Surroundings;
  readonly #editsInPlace: boolean;
  readonly #writes = new Set<string>();
  readonly #removes = new Set<string>();
  readonly #commands: string[] = [];
  readonly #calls: string[][] = [];
  readonly #code: string[] = [];

  constructor(code: string, world: Surroundings) {
    this.#source = new SourceText(code, world);
    this.#world = world;
    // Perl's `$^I` edits the files of `@ARGV` in place, whatever they are called here.
    this.#editsInPlace = world.language === 'perl' && code.includes('$^I');
  }

  read(): CodeEffects {
    const { tokens } = this.#source;
    for (const [i, token] of tokens.entries()) {
      if (!this.#source.isComplete) break;
      if (token.kind === 'shell') this.#commands.push(...this.#source.texts([{ ...token, kind: 'string' }]));
      else if (token.kind === 'name') this.#call(i, token.text);
      // `fs['writeFileSync'](…)`
      else if (token.kind === 'string' && isMark(tokens[i + 1], ']')) this.#call(i + 1, token.text);
      if (this.#editsInPlace && token.kind === 'string') this.#writes.add(token.text);
    }
    return {
      writes: this.#writes,
      removes: this.#removes,
      commands: this.#commands,
      calls: this.#calls,
      code: this.#code,
      folders: this.#source.folders,
      isComplete: this.#source.isComplete,
    };
  }

  #call(at: number, name: string): void {
    const { language } = this.#world;
    const verb = name === 'replace' && this.#isPath(at) ? REPLACE : CODE_VERBS.get(name);
    const isEvaluated = name === 'eval' || (name === 'exec' && language === 'python');
    if (verb === undefined && !OPENERS.has(name) && !RUNNERS.has(name) && !isEvaluated) return;
    const args = this.#source.argumentsOf(at);
    if (args === undefined) return;
    const { tokens } = this.#source;
    const isMember = isMark(tokens[at - 1], '.');
    const owner = isMember ? (tokens[at - 2]?.text ?? '') : '';
    const found: Found = { name, owner, at, isMember, args };
    if (verb !== undefined && (verb.of === undefined || verb.of.test(owner))) this.#apply(verb, found);
    if (OPENERS.has(name)) this.#open(found);
    // A regular expression has an `exec` too.
    const runs = language !== 'javascript' || !isMember || /^(?:\)|\$)$|child|cp|proc|shell|sh$/i.test(owner);
    if (RUNNERS.has(name) && runs) this.#run(found);
    if (isEvaluated && !isMember) this.#code.push(...this.#source.texts(args[0] ?? []).filter(isKnown));
  }

  #isPath(at: number): boolean {
    return this.#source.receiver(at).some((token) => /^(?:Path|PosixPath|Pathname)$/.test(token.text));
  }

  #apply(verb: CodeVerb, found: Found): void {
    const { args, isMember } = found;
    const removes = verb.removes === 'all' ? [0] : (verb.removes ?? []);
    const needed = Math.max(-1, ...(verb.writes ?? []), ...removes);
    const isReceiver = verb.receiver !== undefined && (needed < 0 || (isMember && args.length <= needed));
    if (isReceiver) {
      const target = verb.receiver === 'remove' ? this.#removes : this.#writes;
      for (const text of this.#source.texts(this.#source.receiver(found.at))) target.add(text);
      if (verb.writes !== undefined && args[0] !== undefined) this.#addWrites(args[0]);
      return;
    }
    for (const n of verb.removes === 'all' ? args.keys() : removes) {
      for (const text of this.#argument(found, n)) this.#removes.add(text);
    }
    for (const n of verb.writes ?? []) for (const text of this.#argument(found, n)) this.#writes.add(text);
  }

  #addWrites(range: readonly Token[]): void {
    for (const text of this.#source.texts(range)) this.#writes.add(text);
  }

  #argument({ args }: Found, n: number): readonly string[] {
    const range = args[n] ?? keyword(args, /^(?:dst|dest|destination|filename|file|path)$/);
    return range === undefined ? [] : this.#source.texts(range);
  }

  /** Functions that open a file count when their mode says that it is for writing. */
  #open({ args, owner, isMember, name, at }: Found): void {
    if (this.#world.language === 'perl' && (name === 'open' || name === 'sysopen')) {
      this.#openPerl(args);
      return;
    }
    const positional = args.filter((arg) => arg[1]?.text !== '=' || arg[0]?.kind !== 'name');
    const inplace = keyword(args, /^inplace$/)?.[0]?.text;
    const named = keyword(args, /^mode$/);
    const isReceiver = isMember && !NOT_A_PATH.test(owner) && this.#isMode(positional[0] ?? named);
    const mode = named ?? positional[isReceiver ? 0 : 1];
    const isWritten = inplace === undefined ? this.#opensForWriting(mode ?? []) : /True|1/.test(inplace);
    if (!isWritten) return;
    const target = keyword(args, /^(?:file|filename|files)$/) ?? positional[0] ?? [];
    this.#addWrites(isReceiver ? this.#source.receiver(at) : target);
  }

  #isMode(range: readonly Token[] | undefined): boolean {
    return range !== undefined && this.#source.texts(range).every((text) => /^[rwaxbtU+]{1,4}$/.test(text));
  }

  #opensForWriting(mode: readonly Token[]): boolean {
    if (mode.some((token) => OPEN_FLAG.test(token.text))) return true;
    return this.#source
      .texts(mode)
      .some((text) => isKnown(text) && text.length < 12 && WRITE_MODE.test(text));
  }

  /** `open F, ">", "x"`, `open(F, ">x")`, `open(my $f, "| cmd")`. */
  #openPerl([, mode = [], path]: readonly (readonly Token[])[]): void {
    for (const text of this.#source.texts(mode)) {
      const [, operator = '', rest = ''] = /^\s*(\+?[<>|]{0,2})&?\s*(.*)$/s.exec(text.trimEnd()) ?? [];
      const targets = path === undefined ? [rest] : this.#source.texts(path);
      if (operator === '|' && path === undefined) this.#commands.push(rest);
      else if (/[>+]/.test(operator)) for (const target of targets) this.#writes.add(target);
      if (path === undefined && rest.endsWith('|')) this.#commands.push(rest.slice(0, -1));
    }
    if (mode.some((token) => OPEN_FLAG.test(token.text))) this.#writes.add(UNKNOWN);
  }

  /** A command given as text, as a list of words, or as a program with a list. */
  #run({ args, name }: Found): void {
    const [first = [], second = []] = args;
    const text = (range: readonly Token[]) => this.#source.texts(range)[0] ?? UNKNOWN;
    const words = (range: readonly Token[]) =>
      splitAt(range.slice(1, -1), (token) => isMark(token, ','))
        .filter((part) => part.length > 0)
        .map(text);
    // `system "a", $b`: in Perl and Ruby every further argument is a word, in Python those of `execlp`.
    const { language } = this.#world;
    const takesList = language === 'perl' || language === 'ruby' ? /^(?:system|exec|spawn)$/ : /^execl/;
    const isList = takesList.test(name);
    const areStrings = args.every((arg) => arg.every((token) => token.kind === 'string'));
    // `execvp("sh", ["sh", "-c", …])` says its name twice.
    const from = /^exec[lv]/.test(name) ? 1 : 0;
    if (isMark(first[0], '[')) this.#calls.push(words(first));
    else if (isMark(second[0], '[')) this.#calls.push([text(first), ...words(second).slice(from)]);
    else if (args.length > 1 && (areStrings || isList)) this.#calls.push(args.map(text).toSpliced(1, from));
    else this.#commands.push(...this.#source.texts(first).filter((command) => command !== UNKNOWN));
  }
}

/** The value of a keyword argument (`mode='w'`). */
function keyword(args: readonly (readonly Token[])[], name: RegExp): readonly Token[] | undefined {
  const found = args.find((arg) => name.test(arg[0]?.text ?? '') && isMark(arg[1], '='));
  return found?.slice(2);
}

/** Functions and methods of scripting languages that change files, and which of their arguments they change. */
interface CodeVerb {
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

const CODE_VERBS: ReadonlyMap<string, CodeVerb> = new Map(
  TABLE.flatMap(([names, verb]) => names.split(' ').map((name) => [name, verb] as const)),
);

/** Functions that open a file in the mode that another argument names. */
const OPENERS: ReadonlySet<string> = new Set(
  'open openSync fopen fdopen sysopen File FileInput input sopen new GzipFile ZipFile TarFile gzopen'.split(
    ' ',
  ),
);

/** Functions that run a command of the shell, or a program by its words. */
const RUNNERS: ReadonlySet<string> = new Set(
  (
    'system popen Popen run call check_call check_output getoutput getstatusoutput exec execSync execFile execFileSync ' +
    'spawn spawnSync shell_exec passthru proc_open execvp execv execl execlp popen2 popen3 capture2 capture2e capture3 ' +
    'pclose execute readpipe'
  ).split(' '),
);
