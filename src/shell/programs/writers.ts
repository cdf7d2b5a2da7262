import { basename } from '../disk.ts';
import type { ProgramCall, Program } from '../machine.ts';
import { UNKNOWN } from '../unknown.ts';
import { hasOption, optionValues, parseOptions, type GetoptSpec, type Options } from '../options.ts';

/** Which words of a program's command line name files that it changes. */
interface Writer extends GetoptSpec {
  /** Options whose value is a file that is written. */
  readonly output?: readonly string[];
  /** Operands that are written: all, all but the first, the last, or the one with this index. */
  readonly operands?: 'all' | 'rest' | 'last' | number;
  /** The operands count only when one of these options is given (`-i`, `--write`) … */
  readonly when?: readonly string[];
  /** … or unless one of these is. */
  readonly unless?: readonly string[];
  readonly kind?: 'write' | 'remove';
  /** The program replaces the name and does not write through a symbolic link. */
  readonly replaces?: boolean;
}

const FORMATTER = { operands: 'all', replaces: true } as const;
const COMPILER: Writer = { short: 'o:I:L:l:D:x:std:', output: ['o'] };
const COMPRESSOR: Writer = {
  short: 'S:T:M:b:o:p:',
  long: 'suffix= output=? threads= memory=',
  operands: 'all',
  unless: ['c', 'stdout', 'to-stdout', 'l', 'list', 't', 'test', 'k', 'keep', 'V', 'h'],
  kind: 'remove',
};

/** Programs whose effect can be read off their options and operands; `aliases` share an entry. */
const WRITERS: readonly (readonly [names: string, writer: Writer])[] = [
  ['truncate', { short: 's:r:', long: 'size= reference=', operands: 'all' }],
  ['shred', { short: 'n:s:', long: 'iterations= size= random-source=', operands: 'all' }],
  ['unlink', { operands: 'all', kind: 'remove' }],
  ['sponge dos2unix unix2dos todos fromdos fallocate', { short: 'l:o:', operands: 'all' }],
  [
    'sort',
    { short: 'k:t:S:T:o:', long: 'key= field-separator= output= buffer-size=', output: ['o', 'output'] },
  ],
  ['uniq', { short: 'f:s:w:', long: 'skip-fields= skip-chars= check-chars=', operands: 1 }],
  ['shuf', { short: 'i:n:o:', long: 'output= input-range= head-count=', output: ['o', 'output'] }],
  [
    'curl',
    {
      short: 'o:D:c:A:b:d:e:E:F:H:m:T:u:U:w:x:X:r:K:Y:y:z:C:P:Q:t:',
      long: 'output= dump-header= cookie-jar= trace= trace-ascii= stderr= libcurl= etag-save= hsts= data= header= request= user=',
      output: [
        'o',
        'output',
        'D',
        'dump-header',
        'c',
        'cookie-jar',
        'trace',
        'trace-ascii',
        'stderr',
        'etag-save',
      ],
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
  ['openssl gs', { output: ['-out', '-keyout', '-sOutputFile', '-writerand', '-certout'] }],
  ['script', { short: 'c:o:t:B:I:O:E:m:', long: 'command= output-limit= log-out= log-io=', operands: 0 }],
  ['xxd', { short: 'c:g:l:o:s:n:', operands: 1 }],
  ['iconv', { short: 'f:t:o:', long: 'from-code= to-code= output=', output: ['o', 'output'] }],
  ['yq tomlq xq dasel gojq', { ...FORMATTER, when: ['i', 'inplace', 'in-place'], short: 'I:o:p:' }],
  ['pandoc', { short: 'o:f:t:r:w:V:M:H:A:B:', long: 'output= from= to=', output: ['o', 'output'] }],
  [
    'gcc cc g++ c++ clang clang++ ld as rustc swiftc nasm dot bison yacc flex xmllint xsltproc protoc',
    COMPILER,
  ],
  ['gpg gpg2 age minisign', { short: 'o:r:u:', long: 'output= recipient=', output: ['o', 'output'] }],
  ['sdiff', { short: 'o:w:I:', output: ['o', 'output'], long: 'output=' }],
  ['gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma lzip compress uncompress lz4', COMPRESSOR],
  ['prettier eslint biome rubocop standard', { ...FORMATTER, when: ['w', 'write', 'fix', 'a', 'A'] }],
  [
    'black isort gofumpt rustfmt mdformat autoflake yapf',
    { ...FORMATTER, unless: ['check', 'diff', 'c', 'd'] },
  ],
  ['gofmt goimports shfmt', { ...FORMATTER, when: ['w'] }],
  ['clang-format autopep8 perltidy fixjson', { ...FORMATTER, when: ['i', 'in-place', 'b'] }],
  ['sd', { ...FORMATTER, operands: 'rest', unless: ['p', 'preview'] }],
  ['rpl', { ...FORMATTER, operands: 'rest' }],
  ['rename prename', { operands: 'rest', kind: 'remove', unless: ['n', 'nono'] }],
  ['csplit split', { short: 'n:f:b:l:a:C:', long: 'prefix= suffix-format= additional-suffix=' }],
  ['mkfifo mknod', {}],
  ['crudini', { operands: 0, when: ['set', 'del', 'merge'] }],
  ['sponge', { operands: 'last' }],
  ['merge', { short: 'L:', operands: 0, unless: ['p'] }],
  ['tcpdump', { short: 'w:i:r:c:', output: ['w'] }],
  ['convert magick ffmpeg', { operands: 'last' }],
  ['asciinema ttyrec', { operands: 'last' }],
  ['ssh-keygen', { short: 'f:t:b:C:N:P:', output: ['f'] }],
  ['jpegoptim optipng pngcrush', FORMATTER],
];

function programOf(writer: Writer): Program {
  return (call) => {
    const options = parseOptions(call.args, writer);
    call.frame.output.add(UNKNOWN);
    for (const word of optionFiles(call, writer, options))
      call.machine.write(call.frame.scope, word, call.name);
    const isActive = writer.when === undefined || hasOption(options, ...writer.when);
    if (!isActive || hasOption(options, ...(writer.unless ?? []))) return undefined;
    for (const word of chosen(options.operands, writer.operands)) {
      if (writer.kind === 'remove') call.machine.remove(call.frame.scope, word, call.name);
      else call.machine.write(call.frame.scope, word, call.name, writer.replaces !== true);
    }
    return undefined;
  };
}

function optionFiles({ args }: ProgramCall, { output = [] }: Writer, options: Options): string[] {
  // Options of one dash and several letters (`openssl -out x`) are no getopt clusters.
  const single = output.filter((name) => name.startsWith('-'));
  const found = args.flatMap((word, n) => {
    const name = single.find((option) => word === option || word.startsWith(`${option}=`));
    return name === undefined ? [] : [word === name ? (args[n + 1] ?? '') : word.slice(name.length + 1)];
  });
  return [...optionValues(options, ...output), ...found].filter((word) => word !== '-');
}

function chosen(operands: readonly string[], which: Writer['operands']): readonly string[] {
  if (which === undefined) return [];
  if (which === 'all') return operands.filter((word) => word !== '-');
  if (which === 'rest') return operands.slice(1);
  return which === 'last' ? operands.slice(-1) : operands.slice(which, which + 1);
}

/** `gunzip x.gz` also makes `x`, `curl -O url` a file named as the url, `tar --remove-files` removes. */
function inflate(call: ProgramCall): undefined {
  const { operands } = parseOptions(call.args, COMPRESSOR);
  for (const word of operands) {
    const plain = word.replace(/\.(?:gz|bz2|xz|lzma|zst|lz4?|Z|tgz)$/, '');
    if (plain !== word) call.machine.write(call.frame.scope, plain, call.name, false);
  }
}

function download(call: ProgramCall): undefined {
  const { frame, machine, args } = call;
  const isNamed = args.some((word) => /^-[a-zA-Z]*O[a-zA-Z]*$|^--remote-name(?:-all)?$/.test(word));
  const folder = args[args.indexOf('--output-dir') + 1];
  for (const url of isNamed && call.name === 'curl' ? args.filter((word) => word.includes('://')) : []) {
    const name = basename(url.replace(/[?#][^]*$/, ''));
    machine.write(
      frame.scope,
      args.includes('--output-dir') && folder ? `${folder}/${name}` : name,
      'curl -O',
    );
  }
}

function then(first: Program, second: Program): Program {
  return (call) => {
    first(call);
    return second(call);
  };
}

/** The table by program name. */
export const WRITER_PROGRAMS: ReadonlyMap<string, Program> = new Map(
  WRITERS.flatMap(([names, writer]) =>
    names.split(' ').map((name) => {
      const program = programOf(writer);
      if (writer === COMPRESSOR) return [name, then(program, inflate)] as const;
      return [name, name === 'curl' ? then(program, download) : program] as const;
    }),
  ),
);
