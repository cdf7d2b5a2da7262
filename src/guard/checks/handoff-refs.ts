import type { Call, Finding } from '../call.ts';
import type { AnalysedFacts } from '../facts.ts';
import { refusedRef } from './handoff-files.ts';

const GUARDED_REFS = 'refs/handoffs';
const NAMESPACES = [`${GUARDED_REFS}/`, `${GUARDED_REFS}-local/`, `${GUARDED_REFS}-work/`];

/**
 * Refuses a command that moves git-handoff's refs with git itself, because that could lose a note without a trace. In a
 * repository that has handoffs, this holds even if `init` did not run.
 */
export async function handoffRefs(
  _: Call,
  { effects, isOn, git }: AnalysedFacts,
): Promise<readonly Finding[]> {
  const hit = effects.refs.find(({ ref }) => touchesHandoffs(ref));
  if (hit === undefined) return [];
  const isGuarded = isOn || (await git.hasRefs(hit.cwd, `${GUARDED_REFS}/`));
  return isGuarded ? [refusedRef(hit)] : [];
}

/** Whether a ref, or a pattern with one `*`, touches handoffs. The text before the `*` may end within a namespace. */
function touchesHandoffs(ref: string): boolean {
  const star = ref.indexOf('*');
  if (star < 0) return NAMESPACES.some((namespace) => ref.startsWith(namespace));
  const beginning = ref.slice(0, star);
  return NAMESPACES.some((namespace) => namespace.startsWith(beginning) || beginning.startsWith(namespace));
}
