import type { Verdict } from '../agents/dialect.ts';
import type { SessionId } from '../domain/names.ts';
import type { Scene } from './scene.ts';
import { combined, stands } from './verdicts.ts';

/** `handoff.headCheck=strict`: what is allowed so far may not be done on top of another session's commit. */
export async function strictly(
  scene: Scene,
  session: SessionId | undefined,
  verdict: Verdict,
): Promise<Verdict> {
  const { enabled, settings, event } = scene;
  const { tool = { kind: 'other' } } = event;
  const isAsked = enabled && settings.headCheck === 'strict' && tool.kind !== 'other';
  if (!isAsked || stands(scene, verdict) || session === undefined) return verdict;
  const { headVerdict } = await import('./checks/strict-head.ts');
  return combined(verdict, await headVerdict(scene, session));
}
