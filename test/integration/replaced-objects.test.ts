import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { GuardWorld } from '../support/guard.ts';
import { A, B, ServerWorld, remoteLines } from '../support/server-world.ts';

const REF = 'refs/handoffs/main/auth-refresh';
const REASON = 'git would show it instead of a handoff';

describe('the gate of a server', () => {
  let world: ServerWorld;
  afterEach(() => world.remove());

  /** A server with a handoff of two versions. */
  function withHandoff(): { first: string; tip: string } {
    world = new ServerWorld('server-pre-receive');
    const first = world.handmade({ note: 'the first note\n' });
    const tip = world.handmade({ parents: [first] });
    expect(world.push([`${tip}:${REF}`, 'main']).status).toBe(0);
    return { first, tip };
  }
  const oid = (name: string) => world.git(['rev-parse', name]);
  const replace = (name: string, by: string) => [`${by}:refs/replace/${oid(name)}`];
  /** Pushes a note with a change of a.txt; returns the name of the work. */
  function carryWork(): string {
    writeFileSync(join(world.path, 'a.txt'), 'carried\n');
    world.noted(['write', 'login-flow', '-m', 'with work', '--with-work'], { session: A });
    const [work = '', ...more] = world.refs('refs/handoffs-local/work');
    expect(more).toEqual([]);
    const there = work.replace('refs/handoffs-local/work/', 'refs/handoffs-work/');
    expect(world.push(['refs/handoffs/main/login-flow', `${work}:${there}`])).toMatchObject({ status: 0 });
    return work;
  }
  const expectRefused = (refspecs: readonly string[]) => {
    const run = world.push(refspecs);
    expect(run.status, run.stderr).toBe(1);
    const name = refspecs.at(-1)?.replace(/^[^:]*:/, '') ?? '';
    expect(remoteLines(run)).toEqual([`error: ${name}: ${REASON}`, 'hint: git push --all']);
    expect(world.there(name)).toBeUndefined();
  };

  it('refuses replacements of the commits, trees and texts of handoffs', () => {
    const { first, tip } = withHandoff();
    const forged = world.handmade({ owner: B, note: 'forged\n' });
    for (const name of [tip, first]) expectRefused(replace(name, forged));
    for (const name of [`${tip}^{tree}`, `${first}:handoff.md`, `${tip}:state.json`])
      expectRefused(replace(name, oid(`${forged}^{tree}`)));
    // git reads these names in upper or lower case.
    expectRefused([`${forged}:refs/replace/${tip.toUpperCase()}`]);
    // git uses only the last part of such a name.
    expectRefused([`${forged}:refs/replace/deeper/${tip}`]);
  });

  it('refuses them even if a branch has the handoff, if they come with it, or before it comes', () => {
    const { tip } = withHandoff();
    const forged = world.handmade({ note: 'forged\n' });
    expect(world.push([`${tip}:refs/heads/has-it`]).status).toBe(0);
    expectRefused(replace(`${tip}^:handoff.md`, oid(`${forged}:handoff.md`)));
    const next = world.handmade({ parents: [tip], note: 'the next note\n' });
    expectRefused(replace(next, forged));
    expectRefused([`${next}:${REF}`, ...replace(`${next}:handoff.md`, forged)]);
    expect(world.there(REF)).toBe(tip);
  });

  it('refuses a handoff if the server already has a replacement for its objects', () => {
    const { tip } = withHandoff();
    const next = world.handmade({ parents: [tip], note: 'the next note\n' });
    expect(world.push([`${next}:refs/heads/innocent`]).status).toBe(0);
    const replaced = `refs/replace/${oid(`${next}:handoff.md`)}`;
    expect(world.push([`${oid(`${tip}:handoff.md`)}:${replaced}`]).status).toBe(0);
    const run = world.push([`${next}:${REF}`]);
    expect(remoteLines(run)).toEqual([
      `error: ${REF}: git would show another object in its place: the server has ${replaced}`,
      `hint: git push origin --delete ${replaced}`,
    ]);
    expect(world.there(REF)).toBe(tip);
  });

  it('refuses replacements of carried work', () => {
    const { tip } = withHandoff();
    const work = carryWork();
    const carried = world.git(['hash-object', 'a.txt']);
    for (const name of [work, `${work}^{tree}`, carried]) expectRefused(replace(oid(name), tip));
  });

  it('accepts a replacement of code, and the deletion of one of a note', () => {
    const { tip } = withHandoff();
    carryWork();
    const grafted = world.git(['commit-tree', 'HEAD^{tree}', '-m', 'another beginning']);
    const [refspec = ''] = replace('HEAD', grafted);
    const name = refspec.replace(/^[^:]*:/, '');
    expect(world.push([refspec]).status).toBe(0);
    expect(world.there(name)).toBe(grafted);
    expect(world.push([`:${name}`]).status).toBe(0);
    world.git(['update-ref', `refs/replace/${tip}`, grafted], { cwd: world.server });
    expect(world.push([`:refs/replace/${tip}`]).status).toBe(0);
  });
});

describe('a clone where git shows something else for a note', () => {
  const [OWNER, OTHER] = ['sess-bbbbbbbb-2222', 'sess-aaaaaaaa-1111'];
  let world: GuardWorld;
  afterEach(() => world.remove());

  /** A note of OWNER, and a forged commit that gives it to OTHER, with another text. */
  function noteAndForgery(): { tip: string; forged: string } {
    world = new GuardWorld();
    world.sessionStart(OWNER);
    world.noted(['write', 'auth-refresh', '-m', 'the true second note'], { session: OWNER });
    const tip = world.git(['rev-parse', REF]);
    const blob = world.git(['hash-object', '-w', '--stdin'], { input: 'the forged note\n' });
    const state = world.git(['rev-parse', `${tip}:state.json`]);
    const entries = `100644 blob ${blob}\thandoff.md\n100644 blob ${state}\tstate.json\n`;
    const tree = world.git(['mktree'], { input: entries });
    const message = `forged\n\nClaude-Session-Id: ${OTHER}\nHandoff-State: closed\n`;
    return { tip, forged: world.git(['commit-tree', tree, '-F', '-'], { input: message }) };
  }

  function expectTruth(): void {
    expect(world.ok(['show', 'auth-refresh'])).toContain('the true second note');
    expect(world.json(['list']).items).toMatchObject([
      { topic: 'auth-refresh', state: 'open', owner: OWNER },
    ]);
    expect(world.ok(['log', 'auth-refresh']).trim().split('\n')).toHaveLength(2);
    const boot = world.handoff(['boot', 'auth-refresh'], { session: OWNER });
    expect(boot.stdout).toContain('the true second note');
    expect(boot.stdout).not.toContain('forged');
    expect(JSON.stringify(world.sessionStart(OTHER))).toContain('auth-refresh');
    expect(world.handoff(['write', 'auth-refresh', '-m', 'theft'], { session: OTHER }).status).toBe(3);
    expect(world.handoff(['doctor']).stdout).toContain('none moved by hand');
    world.noted(['write', 'auth-refresh', '-m', 'the true third note'], { session: OWNER });
    expect(world.ok(['show', 'auth-refresh'])).toContain('the true third note');
  }

  it('reads the note itself if its commit is replaced', () => {
    const { tip, forged } = noteAndForgery();
    world.git(['replace', tip, forged]);
    expect(world.git(['show', `${REF}:handoff.md`])).toBe('the forged note');
    expectTruth();
  });

  it('reads the note itself if its text and its tree are replaced', () => {
    const { tip, forged } = noteAndForgery();
    for (const what of [':handoff.md', '^{tree}'])
      world.git(['replace', '-f', `${tip}${what}`, `${forged}${what}`]);
    expectTruth();
  });

  it('walks the true history if it has a graft', () => {
    const { tip, forged } = noteAndForgery();
    mkdirSync(join(world.path, '.git', 'info'), { recursive: true });
    writeFileSync(join(world.path, '.git', 'info', 'grafts'), `${tip}\n${forged} ${tip}\n`);
    expectTruth();
    // The ref is moved by hand to the forgery. The graft makes the forgery seem to be built on the note.
    const now = world.git(['rev-parse', REF]);
    writeFileSync(join(world.path, '.git', 'info', 'grafts'), `${forged} ${now}\n`);
    world.git(['update-ref', REF, forged]);
    expect(world.handoff(['doctor']).stdout).toContain(
      'main/auth-refresh was moved by hand (rewound or replaced)',
    );
    expect(world.ok(['show', 'auth-refresh'])).toContain('the true third note');
    rmSync(join(world.path, '.git', 'info', 'grafts'));
  });
});
