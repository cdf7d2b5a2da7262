import { join } from 'node:path';
import type { Verdict } from '../agents/dialect.ts';
import type { PlacedPath } from '../changes/work-place.ts';
import type { SessionId } from '../domain/names.ts';
import { escapeLine } from '../domain/surfacing.ts';
import { decideOrLift } from './lift.ts';
import { quietly } from './quietly.ts';
import type { Scene } from './scene.ts';
import { strictly } from './strictly.ts';
import { ALLOW, stands } from './verdicts.ts';
import { leave } from './visits.ts';

/** Decides what a call does in a worktree that it touches from outside. What a person allowed in that repository counts. */
export async function decideThere(
  there: Scene,
  scene: Scene,
  session: SessionId,
  decide: (scene: Scene) => Promise<Verdict>,
): Promise<Verdict> {
  const judge = async (at: Scene) => strictly(at, session, await decide(at));
  const verdict = (await quietly(there, () => decideOrLift(there, judge))) ?? ALLOW;
  if (verdict.kind !== 'deny' || !stands(there, verdict)) return verdict;
  await quietly(there, () => leave(there, session));
  if (there.place?.commonDir === scene.place?.commonDir) return verdict;
  there.log('deny', `${scene.event.toolName ?? ''}: ${verdict.reason}`);
  return { ...verdict, isFinal: true };
}

/** Many a session takes the main checkout for its own: it is told once, when it steps into another tree. */
export function wrongCheckout({ place: own }: Scene, { found, path }: PlacedPath): Verdict | undefined {
  if (own === undefined) return undefined;
  const [here, there] = [own.workTree, found.workTree].map((top) => escapeLine(top));
  return {
    kind: 'context',
    text:
      `git-handoff: ${escapeLine(path)} is in another working tree (${there ?? ''}) than the one this session works in ` +
      `(${here ?? ''}). If that is not meant, this is the file of your own tree: ${escapeLine(join(own.workTree, path))}`,
  };
}
