import { patchedFiles } from '../../domain/patch.ts';
import type { Program, ProgramCall, Status } from '../machine.ts';
import { parseOptions } from '../options.ts';
import { filterInput } from '../output.ts';
import { UNKNOWN, isKnown } from '../unknown.ts';
import { awk } from './awk.ts';
import { ed, sqlite, vim } from './editors.ts';
import { FILE_PROGRAMS } from './files.ts';
import { FILTER_PROGRAMS } from './filters.ts';
import { FIND_PROGRAMS } from './find.ts';
import { GIT_PROGRAMS } from './git-program.ts';
import { WRAPPER_PROGRAMS } from './git-wrappers.ts';
import { INTERPRETERS } from './interpreters.ts';
import { LAUNCHER_PROGRAMS } from './launchers.ts';
import { PATCH_PROGRAMS } from './patch.ts';
import { SED_PROGRAMS } from './sed.ts';
import { SHELL_PROGRAMS } from './shells.ts';
import { TRANSFER_PROGRAMS } from './transfers.ts';
import { WRITER_PROGRAMS } from './writers.ts';
import { XARGS_PROGRAMS } from './xargs.ts';

/** The names of programs that run what is written in a language of their own, by what reads it. */
const LANGUAGES = {
  python: 'python pypy ipython',
  node: 'node nodejs bun tsx ts-node',
  deno: 'deno',
  php: 'php',
  perl: 'perl',
  ruby: 'ruby',
  lua: 'lua luajit',
  r: 'Rscript R',
  other: 'julia elixir groovy osascript scala jshell',
  awk: 'awk gawk mawk nawk original-awk',
  ed: 'ed red',
  vim: 'vim vi nvim ex view rvim gvim',
  sqlite: 'sqlite3 sqlite',
};

const READERS: Readonly<Record<keyof typeof LANGUAGES, Program>> = {
  ...INTERPRETERS,
  awk,
  ed,
  vim,
  sqlite,
};

/** Programs that run what is written in a language of their own, by name. */
const LANGUAGE_PROGRAMS: ReadonlyMap<string, Program> = new Map(
  Object.entries(LANGUAGES).flatMap(([language, names]) =>
    names.split(' ').map((name) => [name, READERS[language as keyof typeof LANGUAGES]] as const),
  ),
);

/** Codex's `apply_patch <patch>`, or with the patch on its input; Codex catches it and changes the files itself. */
function applyPatch({ args, frame, machine }: ProgramCall): Status {
  const patch = args[0] ?? frame.input.rest;
  if (!isKnown(patch)) machine.unsure = true;
  for (const { path, change, moveTo } of patchedFiles(patch)) {
    if (change === 'delete') machine.remove(frame.scope, path, 'apply_patch');
    else machine.write(frame.scope, path, 'apply_patch');
    if (moveTo !== undefined) machine.write(frame.scope, moveTo, 'apply_patch');
  }
  return undefined;
}

/** The command by both of its names. */
const APPLY_PATCH_PROGRAMS: ReadonlyMap<string, Program> = new Map(
  ['apply_patch', 'applypatch'].map((name) => [name, applyPatch] as const),
);

/** Programs that run what other files say: their effects cannot be told from the command line. */
const NAMES =
  'make gmake ninja cmake npm yarn pnpm cargo go gradle mvn ant rake just task tox nox pytest jest vitest tsc ' +
  'docker podman kubectl ansible-playbook terraform vagrant ctest bazel sbt dotnet msbuild pre-commit lefthook';

function opaque({ machine, frame }: ProgramCall): Status {
  machine.unsure = true;
  machine.changesBelow(machine.cwd(frame.scope));
  frame.output.add(UNKNOWN);
  return undefined;
}

const OPAQUE_PROGRAMS: ReadonlyMap<string, Program> = new Map(
  NAMES.split(' ').map((name) => [name, opaque] as const),
);

/** `sort`, `uniq` and `shuf` write a file or pass their lines on. */
function passing(name: string): [string, Program] {
  const writer = WRITER_PROGRAMS.get(name);
  return [
    name,
    (call) => {
      const { operands } = parseOptions(call.args, { short: 'k:t:S:T:o:f:s:w:n:', long: 'output=' });
      call.frame.output.add(filterInput(call, operands.slice(0, 1)));
      return writer?.(call);
    },
  ];
}

/** `script` runs a command and writes its output to a file. */
const script: Program = (call) => {
  WRITER_PROGRAMS.get('script')?.(call);
  return LAUNCHER_PROGRAMS.get('script')?.(call);
};

/** Every program whose effects are known, by name. */
export const PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...WRITER_PROGRAMS,
  ...OPAQUE_PROGRAMS,
  ...LAUNCHER_PROGRAMS,
  ...FILE_PROGRAMS,
  ...TRANSFER_PROGRAMS,
  ...PATCH_PROGRAMS,
  ...APPLY_PATCH_PROGRAMS,
  ...FILTER_PROGRAMS,
  ...SED_PROGRAMS,
  ...FIND_PROGRAMS,
  ...XARGS_PROGRAMS,
  ...SHELL_PROGRAMS,
  ...GIT_PROGRAMS,
  ...WRAPPER_PROGRAMS,
  passing('sort'),
  passing('uniq'),
  passing('shuf'),
  ['script', script],
  ...LANGUAGE_PROGRAMS,
]);
