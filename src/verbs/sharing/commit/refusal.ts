import { Failure } from '../../../domain/failure.ts';
import { escapeLine } from '../../../domain/surfacing.ts';
import type { GitResult } from '../../../git/run.ts';
import { isLocked } from '../../../git/user-git.ts';

/** After what git itself has said; this says what it came to. */
export function commitRefusal(result: GitResult): Failure {
  if (isLocked(result)) {
    const message = 'another git process kept the index locked; nothing was committed';
    return new Failure('environment', message, { hint: 'git handoff doctor' });
  }
  if (result.code === 1) {
    const message = 'nothing was committed: git, or one of its hooks, refused it';
    const skip = /\bgit (?:cherry-pick|rebase) --skip\b/.exec(result.stderr)?.[0]; // HEAD has it all
    return new Failure('refused', message, { hint: skip ?? 'git handoff status' });
  }
  const lines = result.stderr.split('\n').map((line) => line.trim());
  const line = lines.find((one) => one.startsWith('fatal: ')) ?? lines.find((one) => one !== '') ?? '';
  const hint = /user\.email|empty ident/.test(result.stderr)
    ? 'git config user.email you@example.com'
    : 'git handoff status';
  return new Failure('environment', `git commit: ${escapeLine(line)}`, { hint });
}
