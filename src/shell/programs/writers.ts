import { UNKNOWN } from '../effects.ts';
import type { Program } from '../machine.ts';
import { type GetoptSpec, hasOption, optionValues, parseOptions } from '../options.ts';

/** Tells which words of a program's command line name files that it changes. */
interface Writer extends GetoptSpec {
  /** The options whose value is a file that is written. */
  readonly output?: readonly string[];
  /** The operands that are written: all, or all but the first. */
  readonly operands?: 'all' | 'rest';
  /** The operands count only when one of these options is given (`-i`, `--write`) … */
  readonly when?: readonly string[];
  /** … or unless one of these is. */
  readonly unless?: readonly string[];
  readonly kind?: 'write' | 'remove';
  /** Whether the program replaces the name, and so does not write through a symbolic link. */
  readonly replaces?: boolean;
}

const FORMATTER = { operands: 'all', replaces: true } as const;
const COMPRESSOR: Writer = {
  short: 'S:T:M:b:o:p:',
  long: 'suffix= output=? threads= memory=',
  operands: 'all',
  unless: ['c', 'stdout', 'to-stdout', 'l', 'list', 't', 'test', 'k', 'keep', 'V', 'h'],
  kind: 'remove',
};

/** The programs whose options and operands tell what they change. */
const WRITERS: readonly (readonly [names: string, writer: Writer])[] = [
  ['truncate', { short: 's:r:', long: 'size= reference=', operands: 'all' }],
  ['shred', { short: 'n:s:', long: 'iterations= size= random-source=', operands: 'all' }],
  ['unlink', { operands: 'all', kind: 'remove' }],
  ['sponge dos2unix unix2dos fallocate', { short: 'l:o:', operands: 'all' }],
  [
    'curl',
    {
      short: 'o:D:c:A:b:d:e:E:F:H:m:T:u:U:w:x:X:r:K:Y:y:z:C:P:Q:t:',
      long: 'output= dump-header= cookie-jar= data= header= request= user=',
      output: ['o', 'output', 'D', 'dump-header', 'c', 'cookie-jar'],
    },
  ],
  [
    'wget',
    {
      short: 'O:o:a:P:U:t:T:e:i:Q:A:R:D:I:X:',
      long: 'output-document= output-file= append-output= directory-prefix= header= user-agent=',
      output: ['O', 'output-document', 'o', 'output-file', 'a', 'append-output'],
    },
  ],
  ['yq', { ...FORMATTER, when: ['i', 'inplace', 'in-place'], short: 'I:o:p:' }],
  ['gcc cc g++ c++ clang clang++ ld as rustc swiftc', { short: 'o:I:L:l:D:x:std:', output: ['o'] }],
  ['gzip gunzip bzip2 bunzip2 xz unxz', COMPRESSOR],
  ['prettier eslint biome rubocop standard', { ...FORMATTER, when: ['w', 'write', 'fix', 'a', 'A'] }],
  [
    'black isort gofumpt rustfmt mdformat autoflake yapf',
    { ...FORMATTER, unless: ['check', 'diff', 'c', 'd'] },
  ],
  ['gofmt goimports shfmt', { ...FORMATTER, when: ['w'] }],
  ['clang-format autopep8', { ...FORMATTER, when: ['i', 'in-place'] }],
  ['sd', { ...FORMATTER, operands: 'rest', unless: ['p', 'preview'] }],
  ['rename prename', { operands: 'rest', kind: 'remove', unless: ['n', 'nono'] }],
];

function programOf(writer: Writer): Program {
  return (call) => {
    const { args, frame, machine, name } = call;
    const options = parseOptions(args, writer);
    frame.output.add(UNKNOWN);
    for (const word of optionValues(options, ...(writer.output ?? [])))
      if (word !== '-') machine.write(frame.scope, word, name);
    const isActive = writer.when === undefined || hasOption(options, ...writer.when);
    if (!isActive || hasOption(options, ...(writer.unless ?? []))) return undefined;
    const { operands } = options;
    const chosen = writer.operands === 'rest' ? operands.slice(1) : writer.operands === 'all' ? operands : [];
    for (const word of chosen.filter((one) => one !== '-')) {
      if (writer.kind === 'remove') machine.remove(frame.scope, word, name);
      else machine.write(frame.scope, word, name, writer.replaces !== true);
      // `gunzip x.gz` also makes `x`.
      const plain = word.replace(/\.(?:gz|bz2|xz|tgz)$/, '');
      if (writer === COMPRESSOR && plain !== word) machine.write(frame.scope, plain, name, false);
    }
    return undefined;
  };
}

/** The table by program name. */
export const WRITER_PROGRAMS: ReadonlyMap<string, Program> = new Map(
  WRITERS.flatMap(([names, writer]) => names.split(' ').map((name) => [name, programOf(writer)] as const)),
);
