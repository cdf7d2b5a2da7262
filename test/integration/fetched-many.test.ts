import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clone, Clones, refValues } from '../support/clones.ts';
import { Forger } from '../support/forger.ts';

/** Many handoffs that a remote shows at once. */

const COUNT = 202;
const topic = (at: number) => `topic-${at}`;
const place = (at: number) => `main/${topic(at)}`;
const all = Array.from({ length: COUNT }, (_, at) => topic(at));

let world: Clones;
let ada: Clone;
let forger: Forger;
beforeEach(async () => {
  world = await Clones.start();
  ada = world.clone('Ada');
  forger = new Forger(world.server);
  forger.plant(all);
});
afterEach(() => world.remove());

const tracking = () => [...refValues(ada, 'refs/handoffs-remote').keys()];
const kept = () => [...refValues(ada, 'refs/handoffs-local/kept').keys()];
const drop = (ref: string) => ada.git(['update-ref', '-d', ref]);
const collect = () => {
  ada.git(['reflog', 'expire', '--expire=now', '--all']);
  ada.git(['gc', '-q', '--prune=now']);
};
const stateOf = (at: number) => {
  const item = ada.json(['list', '--all']).items.find((one) => one['topic'] === topic(at));
  return (item?.['remotes'] as { state: string }[] | undefined)?.map(({ state }) => state);
};
const others = (answer = ada.syncJson()) => ada.actions(answer);

describe('what a remote showed of many handoffs', () => {
  it('says how each handoff stands', () => {
    ada.sync();
    expect(stateOf(7)).toEqual(['in-sync']);
    expect(ada.json(['status'])).toMatchObject({ remotes: [{ remote: 'origin', toPush: 0, toFetch: 0 }] });
    ada.write(topic(7), 'mine\n', ['--take']);
    expect(stateOf(7)).toEqual(['ahead']);
    expect(ada.json(['show', topic(7)])).toMatchObject({ remotes: [{ remote: 'origin', ahead: 1 }] });
    expect(others()).toEqual([`pushed ${topic(7)}`]);
    expect(stateOf(7)).toEqual(['in-sync']);
    world.server.git(['update-ref', '-d', `refs/handoffs/${place(9)}`]);
    expect(others()).toEqual([`deleted-there ${topic(9)}`]);
    expect(world.server.ref(`refs/handoffs/${place(9)}`)).toBeUndefined();
  });

  it('is kept even if refused, so that it is not fetched again', () => {
    const bad = forger.commit({ topic: 'another-topic' });
    forger.point('refs/handoffs/main/bad-topic', bad);
    expect(others(ada.json(['sync', '--fetch']))).toContain('refused bad-topic');
    expect(ada.ref('refs/handoffs-remote/origin/main/bad-topic')).toBe(bad);
    collect();
    expect(others()).toEqual(['refused bad-topic']);
  });

  it('is fetched again if the tracking refs are gone', () => {
    ada.sync();
    for (const ref of tracking()) drop(ref);
    expect(ada.sync()).toContain(`0 fetched, 0 pushed, ${COUNT} unchanged`);
    expect(tracking()).toHaveLength(COUNT);
  });

  it('does not bring back a pruned note; a new note under its name is set aside', () => {
    ada.sync();
    ada.as(['take', topic(4)]);
    expect(ada.as(['close', topic(4)]).status).toBe(0);
    ada.sync();
    expect(ada.as(['delete', '--closed', '--older-than', '0m', '--yes']).status).toBe(0);
    expect(ada.ref(`refs/handoffs/${place(4)}`)).toBeUndefined();
    expect([kept().length, tracking().length]).toEqual([COUNT - 1, COUNT]);
    collect();
    expect(others()).toEqual([]);
    ada.write(topic(4), 'anew\n');
    expect(others()).toEqual([`set-aside ${topic(4)}`]);
    expect(ada.ok(['show', topic(4), '--lost=1'])).toBe('anew');
  });

  it('stays missing if its ref was deleted by hand, until `doctor --fix` puts it back', () => {
    ada.sync();
    drop(`refs/handoffs/${place(5)}`);
    expect(ada.as(['list']).stderr).toContain(`refs/handoffs/${place(5)} was deleted`);
    expect(others()).toEqual([]);
    expect(ada.as(['doctor', '--fix']).status).toBe(0);
    expect(ada.handoffs()).toEqual(world.server.handoffs());
  });

  it('is removed by a purge', () => {
    ada.sync();
    const tip = ada.ref(`refs/handoffs/${place(2)}`) ?? '';
    const planned = ada.json(['delete', topic(2)]);
    expect(planned).toMatchObject({ remotes: [{ remote: 'origin' }] });
    ada.ok(['delete', topic(2), '--yes', '--take']);
    ada.git(['gc', '-q', '--prune=now']);
    expect([kept().length, tracking().length]).toEqual([COUNT - 1, COUNT - 1]);
    expect(others()).toEqual([]);
    expect(ada.run('git', ['cat-file', '-e', tip]).status).not.toBe(0);
  });

  /** The environment in which `script` runs before git, with git as `$real`, and a file with git's standard input as `$input`. */
  function gitBehind(script: string, more = '" none "*)'): { PATH: string } {
    const [folder, real] = [join(ada.root, 'bin'), ada.run('sh', ['-c', 'command -v git']).stdout.trim()];
    mkdirSync(folder);
    const lines = [
      `real='${real}' input='${join(ada.root, 'input')}'`,
      `case " $* " in *" update-ref "*) cat >"$input" ;; *${more} ;; *) exec "$real" "$@" ;; esac`,
      script,
      'exec "$real" "$@" <"$input"',
    ];
    writeFileSync(join(folder, 'git'), `#!/bin/sh\n${lines.join('\n')}\n`);
    chmodSync(join(folder, 'git'), 0o755);
    return { PATH: `${folder}:${ada.env()['PATH']}` };
  }

  it('becomes handoffs at the next fetch if one was killed before that', () => {
    const env = gitBehind('if grep -q "^create refs/handoffs/" "$input"; then kill -9 $PPID; exit 1; fi');
    expect(ada.as(['sync', '--fetch'], { env, calls: 'process' }).status).not.toBe(0);
    expect([tracking().length, ada.handoffs().size, kept()]).toEqual([COUNT, 0, []]);
    expect(ada.as(['list'])).toMatchObject({ status: 0, stderr: '' });
    expect(ada.as(['sync', '--fetch']).status).toBe(0);
    expect(ada.handoffs()).toEqual(world.server.handoffs());
    expect(kept()).toHaveLength(COUNT);
  });

  it('arrives entirely even if a note is written here meanwhile, which is set aside', () => {
    const mine = new Forger(ada).commit({ topic: topic(9), owner: ada.session, note: 'mine\n' });
    const once = '"$input.once"';
    const write = `: >${once}; "$real" update-ref refs/handoffs/${place(9)} ${mine}`;
    const script = `if [ ! -e ${once} ] && grep -q "^create refs/handoffs/" "$input"; then ${write}; fi`;
    expect(ada.as(['sync', '--fetch'], { env: gitBehind(script), calls: 'process' }).status).toBe(0);
    expect(ada.ok(['show', topic(9), '--lost=1'])).toBe('mine');
    expect(ada.handoffs()).toEqual(world.server.handoffs());
    expect(kept()).toHaveLength(COUNT);
  });

  it('is not fetched if git fails at once, and sync says so', () => {
    const env = gitBehind('', '" fetch "*) echo "fatal: no network" >&2; exit 128');
    const run = ada.as(['sync', '--fetch'], { env, calls: 'process' });
    expect(run.stderr).toBe('error: origin could not be asked: no network\nhint: git ls-remote origin\n');
    expect(ada.handoffs().size).toBe(0);
    expect(ada.as(['sync', '--fetch']).status).toBe(0);
    expect(ada.handoffs()).toEqual(world.server.handoffs());
  });

  it('is kept for a note that could not be pruned', () => {
    const ref = `refs/handoffs/${place(5)}`;
    const message = 'done\n\nClaude-Session-Id: sess-eve-1\nHandoff-State: closed\n';
    const parents = [world.server.ref(ref) ?? ''];
    const closed = forger.commit({ topic: topic(5), owner: 'sess-eve-1', parents, message });
    forger.point(ref, closed);
    ada.sync();
    writeFileSync(join(ada.path, '.git', `${ref}.lock`), '');
    expect(ada.ok(['delete', '--closed', '--older-than', '0m', '--yes'])).toContain(topic(5));
    rmSync(join(ada.path, '.git', `${ref}.lock`));
    expect([ada.ref(ref), ada.ref(`refs/handoffs-local/kept/${place(5)}`)]).toEqual([closed, closed]);
    ada.git(['update-ref', ref, `${ref}~1`]);
    expect(ada.as(['list']).stderr).toContain(`${ref} was moved`);
  });

  it('is kept for a note that was deleted here, written there again, and fetched with many', () => {
    ada.sync();
    ada.ok(['delete', topic(2), '--yes', '--take']);
    for (const ref of [...tracking(), ...kept(), ...ada.handoffs().keys()]) drop(ref);
    forger.point(`refs/handoffs/${place(2)}`, forger.commit({ topic: topic(2) }));
    expect(ada.sync()).toContain(`${COUNT} fetched`);
    expect(refValues(ada, 'refs/handoffs-local/pruned').size).toBe(0);
    drop(`refs/handoffs/${place(2)}`);
    expect(ada.as(['list']).stderr).toContain(`refs/handoffs/${place(2)} was deleted`);
  });

  it('may move while it is fetched', () => {
    const next = forger.commit({ topic: topic(1) });
    const [folder, real] = [join(ada.root, 'bin'), ada.run('sh', ['-c', 'command -v git']).stdout.trim()];
    mkdirSync(folder);
    const move = `update-ref refs/handoffs/${place(1)} ${next}`;
    writeFileSync(
      join(folder, 'git'),
      `#!/bin/sh\ncase " $* " in *" fetch "*) '${real}' --git-dir '${world.server.path}' ${move} ;; esac\nexec '${real}' "$@"\n`,
    );
    chmodSync(join(folder, 'git'), 0o755);
    // In the oldest protocol, a server sends only commits that it advertises.
    ada.git(['config', 'protocol.version', '0']);
    const fetched = ada.as(['sync', '--fetch'], { env: { PATH: `${folder}:${ada.env()['PATH']}` } });
    expect(fetched.status).toBe(0);
    expect(ada.handoffs()).toEqual(world.server.handoffs());
    expect(tracking()).toHaveLength(COUNT);
  });
});
