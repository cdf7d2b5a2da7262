/** What became of one pushed ref. */
export interface PushOutcome {
  readonly ref: string;
  /** `moved`: somebody was first · `declined`: the remote does not want it. */
  readonly kind: 'pushed' | 'moved' | 'declined';
  /** The remote's own words. */
  readonly reason: string;
}

/** `<flag>TAB<from>:<to>TAB<summary> (<reason>)` lines, git-push(1). */
export function parsePorcelain(stdout: string, stderr: string): PushOutcome[] {
  return stdout.split('\n').flatMap((line): PushOutcome[] => {
    const [flag = '', refs = '', reason = ''] = line.split('\t');
    const ref = refs.slice(refs.indexOf(':') + 1);
    if (flag.length !== 1 || !ref.startsWith('refs/')) return [];
    if (flag !== '!') return [{ ref, kind: 'pushed', reason }];
    // A ref where this one needs a folder, or the other way round, is there to stay.
    const isBlocked = stderr.includes(`cannot create '${ref}'`);
    const kind = isRace(reason) && !isBlocked ? 'moved' : 'declined';
    return [{ ref, kind, reason: `${reason}${saidBy(stderr)}` }];
  });
}

/** In the words of git's client and of receive-pack: the ref is not where it was, or is being moved right now. */
function isRace(reason: string): boolean {
  return /non-fast-forward|fetch first|stale info|failed to (?:update ref|lock)|cannot lock ref|reference already exists|incorrect old value|atomic/i.test(
    reason,
  );
}

/** What the remote's hook printed, on one line. */
function saidBy(stderr: string): string {
  const said = [...stderr.matchAll(/^remote: (.*)$/gm)].map(([, text = '']) => text.trim()).filter(Boolean);
  return said.length === 0 ? '' : `: ${said.slice(0, 6).join('; ').slice(0, 500)}`;
}
