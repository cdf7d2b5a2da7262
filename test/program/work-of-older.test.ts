import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, ServerWorld } from '../support/server-world.ts';

/** Version 0.1.0 does not know `--with-work`: a note that it writes loses the trailers about the work. */

const REF = 'refs/handoffs/main/auth-refresh';
const WORK = 'refs/handoffs-local/work';

let world: ServerWorld;
let work: string;
beforeEach(() => {
  world = new ServerWorld(undefined);
  writeFileSync(join(world.path, 'a.txt'), 'two\n');
  world.ok(['write', 'auth-refresh', '-m', 'half done', '--with-work'], { session: A });
  work = world.refs(WORK)[0]?.split('/').at(-1) ?? '';
});
afterEach(() => world.remove());

/** Adds a version to the note as git-handoff 0.1.0 does. */
function older(...lines: string[]): void {
  const tree = world.git(['rev-parse', `${REF}^{tree}`]);
  const owner = lines.some((line) => line.startsWith('Handoff-Taken-From')) ? B : A;
  const state = lines.find((line) => line.startsWith('Handoff-State')) ?? 'Handoff-State: open';
  const rest = lines.filter((line) => line !== state);
  const input = [
    'half done',
    '',
    `Claude-Session-Id: ${owner}`,
    'Handoff-Client: claude',
    state,
    ...rest,
    '',
  ];
  const tip = world.git(['commit-tree', tree, '-p', REF], { input: input.join('\n') });
  for (const ref of [REF, 'refs/handoffs-local/kept/main/auth-refresh']) world.git(['update-ref', ref, tip]);
}

describe('a note with carried work that 0.1.0 has continued and taken', () => {
  it('still carries the work that the newest version with such trailers names', () => {
    older();
    older(`Handoff-Taken-From: ${A}`);
    expect(world.json(['show', 'auth-refresh'])).toMatchObject({ owner: B, work: null });
    expect(world.handoff(['check']).status).toBe(0);
    world.ok(['sync', '--push', 'origin', '--with-work', 'auth-refresh'], { session: B });
    expect(world.there(`refs/handoffs-work/main/auth-refresh/${work}`)).toBe(work);
  });

  it('loses it to a rescue when somebody else closes the note here', () => {
    older();
    older(`Handoff-Taken-From: ${A}`);
    const { stderr } = world.handoff(['close', 'auth-refresh'], { session: B });
    expect(stderr).toContain('which is kept: git handoff rescue show 1');
    expect(world.refs(WORK)).toEqual([]);
  });

  it('keeps it here for its next version when 0.1.0 closes the note', () => {
    older('Handoff-State: closed');
    expect(world.refs(WORK)).toHaveLength(1);
    const refused = world.handoff(['sync', '--push', 'origin', '--with-work', 'auth-refresh'], {
      session: A,
    });
    expect(refused).toMatchObject({ status: 1 });
    expect(refused.stderr).toContain(
      'main/auth-refresh is closed, and the work of a closed note is not sent',
    );
    expect(refused.stderr).toContain('hint: git handoff reopen main/auth-refresh');
    world.ok(['reopen', 'auth-refresh'], { session: A });
    world.ok(['sync', '--push', 'origin', '--with-work', 'auth-refresh'], { session: A });
    expect(world.there(`refs/handoffs-work/main/auth-refresh/${work}`)).toBe(work);
  });
});
