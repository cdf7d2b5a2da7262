import { describe, expect, it } from 'vitest';
import { shells } from '../support/shells.ts';
import { TrailerWorld, mine } from '../support/trailer-world.ts';

/** A whole commit, through the shims to Node and back. */
describe.each(shells)('under $name', (shell) => {
  it('a lone session’s commit gets the same trailers, with an editor and without', () => {
    const world = new TrailerWorld(shell);
    world.enable(process.pid);
    world.git(['config', 'handoff.assistedBy', 'true']);
    world.note({ t: 'model', name: 'Claude:us.anthropic.claude-opus-4-v1:0[1m]' });
    const both = `Claude-Session-Id: ${mine}\nAssisted-by: Claude:us.anthropic.claude-opus-4-v1:0[1m]`;
    world.commit('one\n\nbody');
    expect(world.message()).toBe(`one\n\nbody\n\n${both}`);
    world.commit('one\n\nSee: this', ['--amend']);
    expect(world.message()).toBe(`one\n\nSee: this\n${both}`);
    world.git(['commit', '-q', '--allow-empty'], world.editor('printf "two\\n# x\\n" >"$1"'));
    expect(world.message()).toBe(`two\n\n${both}`);
    world.remove();
  });
});
