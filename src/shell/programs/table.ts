import type { Program } from '../machine.ts';
import { filterInput } from '../output.ts';
import { parseOptions } from '../options.ts';
import { APPLY_PATCH_PROGRAMS } from './apply-patch.ts';
import { FILE_PROGRAMS } from './files.ts';
import { FILTER_PROGRAMS } from './filters.ts';
import { FIND_PROGRAMS } from './find.ts';
import { GIT_PROGRAMS } from './git-program.ts';
import { LANGUAGE_PROGRAMS } from './languages.ts';
import { LAUNCHER_PROGRAMS } from './launchers.ts';
import { OPAQUE_PROGRAMS } from './opaque.ts';
import { PATCH_PROGRAMS } from './patch.ts';
import { SED_PROGRAMS } from './sed.ts';
import { SHELL_PROGRAMS } from './shells.ts';
import { TRANSFER_PROGRAMS } from './transfers.ts';
import { WRAPPER_PROGRAMS } from './git-wrappers.ts';
import { WRITER_PROGRAMS } from './writers.ts';
import { XARGS_PROGRAMS } from './xargs.ts';

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
