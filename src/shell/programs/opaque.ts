import type { ProgramCall, Program, Status } from '../machine.ts';
import { UNKNOWN } from '../unknown.ts';

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

export const OPAQUE_PROGRAMS: ReadonlyMap<string, Program> = new Map(
  NAMES.split(' ').map((name) => [name, opaque] as const),
);
