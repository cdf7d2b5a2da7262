import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TrailerWorld, mine, other } from '../support/trailer-world.ts';

const trailer = `Claude-Session-Id: ${mine}`;
const assisted = 'Assisted-by: Codex:gpt-5.5';

/** A world in which a lone session commits, and its client last reported this model. */
function open(world = new TrailerWorld(), line = 'Codex:gpt-5.5\n'): TrailerWorld {
  world.enable(process.pid);
  world.git(['config', 'handoff.assistedBy', 'true']);
  tell(world, line);
  return world;
}

function tell(world: TrailerWorld, line: string): void {
  world.note({ t: 'model', name: line.trim() });
}

let world: TrailerWorld;
beforeEach(() => {
  world = open();
});
afterEach(() => world.remove());

const commits = (...args: string[]) => world.git(['commit', '-q', '--allow-empty', ...args]);

describe('Assisted-by', () => {
  it.each([
    ['one', `one\n\n${trailer}\n${assisted}`],
    ['one\n\nbody', `one\n\nbody\n\n${trailer}\n${assisted}`],
    ['one\n\nSigned-off-by: a <a@b>', `one\n\nSigned-off-by: a <a@b>\n${trailer}\n${assisted}`],
    [`one\n\n${assisted}`, `one\n\n${assisted}\n${trailer}`],
    ['one\n\nassisted-by: Codex:mine', `one\n\nassisted-by: Codex:mine\n${trailer}`],
    [`one\n\n${trailer}`, `one\n\n${trailer}\n${assisted}`],
  ])('stands beside the session: %j', (message, expected) => {
    world.commit(message);
    expect(world.message()).toBe(expected);
  });

  it('is written without the session, too', () => {
    world.git(['config', 'handoff.trailer', 'off']);
    commits('-m', 'one');
    expect(world.message()).toBe(`one\n\n${assisted}`);
    commits('--amend', '--no-edit');
    expect(world.message()).toBe(`one\n\n${assisted}`);
  });

  it('appears once, however the commit is amended, picked, rebased or reverted, and with whichever model', () => {
    commits('-m', 'one');
    const both = `one\n\n${trailer}\n${assisted}`;
    tell(world, 'Codex:gpt-6\n');
    commits('--amend', '--no-edit');
    expect(world.message()).toBe(both);
    world.git(['commit', '-q', '--allow-empty', '--amend'], { GIT_EDITOR: 'true' });
    expect(world.message()).toBe(both);
    commits('-C', 'HEAD');
    expect(world.message()).toBe(both);
    world.git(['cherry-pick', '--allow-empty', 'HEAD']);
    expect(world.message()).toBe(both);
    world.git(['rebase', '-q', '--force-rebase', '--root']);
    expect(world.message()).toBe(both);
    writeFileSync(join(world.root, 'x'), 'x');
    world.git(['add', 'x']);
    commits('--amend', '-m', 'two');
    expect(world.message()).toBe(`two\n\n${trailer}\nAssisted-by: Codex:gpt-6`);
    world.git(['revert', '--no-edit', 'HEAD']);
    expect(world.message()).not.toContain('Assisted-by');
  });

  it('is not added to a commit that another session or a person made', () => {
    world.file('a', 'a', other);
    commits('--amend', '--no-edit');
    expect(world.message()).toBe(`add a\n\nClaude-Session-Id: ${other}`);
  });

  it('follows a message from an editor, if any is left', () => {
    world.git(['commit', '-q', '--allow-empty'], world.editor('printf "two\\n\\nbody\\n" >"$1"'));
    expect(world.message()).toBe(`two\n\nbody\n\n${trailer}\n${assisted}`);
    const alone = world.editor(`printf '\\n${assisted}\\n# x\\n' >"$1"`);
    expect(world.try(['commit', '--allow-empty'], alone)).toMatchObject({
      status: 1,
      stderr: 'Aborting commit due to empty commit message.\n',
    });
  });

  it.each([
    ['nothing is known', undefined],
    ['there is no line', ''],
    ['a line has no end', 'Codex:'],
    ['another client could end the trailer', 'Codex:a\rSigned-off-by: x <y@z>\n'],
    ['it has a blank', 'Codex:gpt 5\n'],
    ['it has a quote', 'Codex:$(id)"\n'],
    ['it is no letter of ours', 'Codex:gptü\n'],
    ['nobody is named', ':gpt\n'],
    ['it is very long', `Codex:${'x'.repeat(200)}\n`],
  ])('is left out where %s', (_, line) => {
    if (line === undefined) rmSync(join(world.gitDir, 'handoff', 'sessions'), { recursive: true });
    else tell(world, line);
    commits('-m', 'one');
    expect(world.message()).toBe(`one\n\n${trailer}`);
  });

  it('contains nothing beyond the first line', () => {
    tell(world, 'Codex:gpt-5.5\nSigned-off-by: x <y@z>\n');
    commits('-m', 'one');
    expect(world.message()).toBe(`one\n\n${trailer}\n${assisted}`);
  });

  it.each(['false', 'off', 'perhaps', ''])('is off with handoff.assistedBy = %j', (value) => {
    world.git(['config', 'handoff.assistedBy', value]);
    commits('-m', 'one');
    expect(world.message()).toBe(`one\n\n${trailer}`);
  });

  it('is not written for a person', () => {
    rmSync(join(world.gitDir, 'handoff-solo'));
    commits('-m', 'one');
    expect(world.message()).toBe('one');
  });
});
