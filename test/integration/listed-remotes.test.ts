import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clone, Clones, refValues } from '../support/clones.ts';
import { Forger } from '../support/forger.ts';
import { KEPT_LIST } from '../support/kept-list.ts';

/** Many handoffs that a remote showed at once stand in one list, and everything goes on as if each had a tracking ref. */

const COUNT = 202;
const LIST = 'refs/handoffs-local/shown/origin';
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
const listed = (list = LIST) =>
  ada
    .git(['cat-file', 'blob', list])
    .split('\n')
    .map((line) => line.split(' ')[1]);
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
  it('is one ref after a fetch and after a push, and the next sync has nothing to do', () => {
    expect(ada.as(['fetch']).status).toBe(0);
    expect([tracking(), listed().length]).toEqual([[], COUNT]);
    expect([kept(), listed(KEPT_LIST)]).toEqual([[], listed()]);
    expect(ada.sync()).toContain(`0 fetched, 0 pushed, ${COUNT} unchanged`);
    const bob = world.clone('Bob', { words: ['--bare'], folder: 'bob.git' });
    ada.git(['remote', 'add', 'team/b', bob.path]);
    ada.sync('team/b');
    expect(bob.handoffs()).toEqual(ada.handoffs());
    expect(tracking()).toEqual([]);
    expect(ada.git(['rev-parse', 'refs/handoffs-local/shown/team%2Fb'])).toBe(ada.git(['rev-parse', LIST]));
    expect(ada.sync('team/b')).toContain(`0 fetched, 0 pushed, ${COUNT} unchanged`);
  });

  it('tells how a handoff stands, and a tracking ref goes before it', () => {
    ada.sync();
    expect(stateOf(7)).toEqual(['in-sync']);
    expect(ada.json(['status'])).toMatchObject({ remotes: [{ remote: 'origin', toPush: 0, toFetch: 0 }] });
    ada.write(topic(7), 'mine\n', ['--take']);
    expect(stateOf(7)).toEqual(['ahead']);
    expect(ada.json(['show', topic(7)])).toMatchObject({ remotes: [{ remote: 'origin', ahead: 1 }] });
    expect(others()).toEqual([`pushed ${topic(7)}`]);
    expect(tracking()).toEqual([`refs/handoffs-remote/origin/${place(7)}`]);
    expect(stateOf(7)).toEqual(['in-sync']);
    world.server.git(['update-ref', '-d', `refs/handoffs/${place(9)}`]);
    expect(others()).toEqual([`deleted-there ${topic(9)}`]);
    expect(world.server.ref(`refs/handoffs/${place(9)}`)).toBeUndefined();
  });

  it('has a ref besides where the handoff here does not hold it', () => {
    const bad = forger.commit({ topic: 'another-topic' });
    forger.point('refs/handoffs/main/bad-topic', bad);
    expect(others(ada.json(['fetch']))).toContain('refused bad-topic');
    expect(tracking()).toEqual(['refs/handoffs-remote/origin/main/bad-topic']);
    collect();
    expect(others()).toEqual(['refused bad-topic']);
  });

  it('is asked for once more when a fetch was killed before it could be listed', () => {
    ada.sync();
    drop(LIST);
    expect(ada.sync()).toContain(`0 fetched, 0 pushed, ${COUNT} unchanged`);
    expect(listed()).toHaveLength(COUNT);
  });

  it('does not bring back what was pruned here, and parts from it when it is written anew', () => {
    ada.sync();
    ada.as(['close', topic(4), '--take']);
    ada.sync();
    for (const ref of [LIST, ...tracking()]) drop(ref);
    ada.sync();
    expect([tracking(), listed().length]).toEqual([[], COUNT]);
    expect(ada.as(['prune', '--older-than', '0m', '--yes']).status).toBe(0);
    expect(ada.ref(`refs/handoffs/${place(4)}`)).toBeUndefined();
    expect([kept(), listed(KEPT_LIST)]).toEqual([[], listed().filter((one) => one !== place(4))]);
    collect();
    expect(others()).toEqual([]);
    ada.write(topic(4), 'anew\n');
    expect(others()).toEqual([`set-aside ${topic(4)}`, `pushed ${topic(4)}-2`]);
  });

  it('is left alone where a program that knows no lists has pruned', () => {
    ada.sync();
    const oid = ada.ref(`refs/handoffs/${place(5)}`) ?? '';
    const memory = ada.git(['hash-object', '-w', '--stdin'], { input: `${oid}\n` });
    ada.git(['update-ref', `refs/handoffs-local/pruned/${place(5)}`, memory]);
    drop(`refs/handoffs/${place(5)}`);
    collect();
    expect(others()).toEqual([]);
    expect(ada.json(['list', '--all'])).toMatchObject({ remotes: [{ toFetch: 0 }] });
  });

  it('is missed where its ref was deleted by hand, until `doctor --fix` puts it back', () => {
    ada.sync();
    drop(`refs/handoffs/${place(5)}`);
    expect(ada.as(['list']).stderr).toContain(`refs/handoffs/${place(5)} was deleted`);
    expect(others()).toEqual([]);
    expect(ada.as(['doctor', '--fix']).status).toBe(0);
    expect(ada.handoffs()).toEqual(world.server.handoffs());
  });

  it('comes again where its ref was deleted by hand, and the commit with it', () => {
    ada.sync();
    drop(`refs/handoffs/${place(5)}`);
    collect();
    expect(others()).toEqual([]);
    expect(ada.as(['doctor', '--fix']).status).toBe(0);
    expect(ada.handoffs()).toEqual(world.server.handoffs());
  });

  it('goes with a purge', () => {
    ada.sync();
    const tip = ada.ref(`refs/handoffs/${place(2)}`) ?? '';
    const planned = ada.json(['purge', topic(2)]);
    expect(planned).toMatchObject({ stillOn: ['origin'] });
    expect(ada.as(['purge', topic(2), '--yes', '--take', '--gc']).status).toBe(0);
    expect(ada.run('git', ['cat-file', '-e', tip]).status).not.toBe(0);
    expect(listed()).toHaveLength(COUNT - 1);
    expect(listed()).not.toContain(place(2));
    expect(listed(KEPT_LIST)).toEqual(listed());
    expect(others()).toEqual([]);
    expect(ada.run('git', ['cat-file', '-e', tip]).status).not.toBe(0);
  });

  it('goes with a remote that is gone, when `doctor --fix` is asked', () => {
    ada.sync();
    drop(`refs/handoffs/${place(5)}`);
    ada.git(['remote', 'rename', 'origin', 'upstream']);
    const remotes = (...words: string[]) =>
      ada.json(['doctor', ...words]).items.filter(({ check }) => check === 'remotes');
    expect(remotes()).toMatchObject([{ status: 'warning', hint: 'git handoff doctor --fix' }]);
    expect(remotes('--fix')).toMatchObject([{ status: 'fixed' }]);
    expect(ada.ref(LIST)).toBeUndefined();
    expect(remotes()).toEqual([]);
    expect(ada.handoffs().size).toBe(COUNT);
  });

  /** The variables by which a script of ours stands before git: it has `$real`, `$@`, and standard input as `$input`. */
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
  const KEEPS = `grep -q "^create ${KEPT_LIST} " "$input"`;

  it('is remembered by a fetch that was killed once the handoffs were made', () => {
    const env = gitBehind(`if ${KEEPS}; then kill -9 $PPID; exit 1; fi`);
    expect(ada.as(['fetch'], { env, calls: 'process' }).status).not.toBe(0);
    expect([ada.handoffs().size, kept(), ada.ref(KEPT_LIST)]).toEqual([COUNT, [], undefined]);
    expect(ada.as(['list'])).toMatchObject({ status: 0, stderr: '' });
    world.server.git(['update-ref', '-d', `refs/handoffs/${place(9)}`]);
    expect(others()).toEqual([`deleted-there ${topic(9)}`]);
    expect(world.server.ref(`refs/handoffs/${place(9)}`)).toBeUndefined();
  });

  it('is missed where somebody deletes a handoff while it is fetched', () => {
    const env = gitBehind(`if ${KEEPS}; then "$real" update-ref -d refs/handoffs/${place(9)}; fi`);
    expect(ada.as(['fetch'], { env, calls: 'process' }).status).toBe(0);
    expect(ada.handoffs().size).toBe(COUNT - 1);
    expect(ada.as(['list']).stderr).toContain(`refs/handoffs/${place(9)} was deleted`);
    expect(ada.json(['doctor', '--fix']).items).toContainEqual(
      expect.objectContaining({ check: 'refs', status: 'fixed' }),
    );
    expect(ada.handoffs()).toEqual(world.server.handoffs());
  });

  it('is judged again where what was kept cannot be listed', () => {
    mkdirSync(join(ada.path, '.git', 'refs/handoffs-local'), { recursive: true });
    writeFileSync(join(ada.path, '.git', `${KEPT_LIST}.lock`), '');
    expect(ada.as(['fetch']).status).toBe(0);
    expect([ada.handoffs().size, kept(), ada.ref(KEPT_LIST)]).toEqual([COUNT, [], undefined]);
    expect(ada.as(['list'])).toMatchObject({ status: 0, stderr: '' });
  });

  it('is told when the fetch fails at once', () => {
    const env = gitBehind('', '" fetch "*) echo "fatal: no network" >&2; exit 128');
    const run = ada.as(['fetch'], { env, calls: 'process' });
    expect(run.stderr).toBe('error: origin could not be asked: no network\nhint: git ls-remote origin\n');
    expect(ada.handoffs().size).toBe(0);
    expect(ada.as(['fetch']).status).toBe(0);
    expect(ada.handoffs()).toEqual(world.server.handoffs());
  });

  it('is kept for good once a move by hand was told', () => {
    ada.sync();
    const tip = ada.ref(`refs/handoffs/${place(5)}`);
    drop(`refs/handoffs/${place(5)}`);
    expect(ada.as(['list']).stderr).toContain('was deleted');
    collect();
    expect(ada.as(['doctor', '--fix']).status).toBe(0);
    expect(ada.ref(`refs/handoffs/${place(5)}`)).toBe(tip);
  });

  it('is not pruned where the list of what was kept cannot be changed', () => {
    ada.sync();
    ada.as(['close', topic(4), '--take']);
    writeFileSync(join(ada.path, '.git', `${KEPT_LIST}.lock`), '');
    expect(ada.as(['prune', '--older-than', '0m', '--yes'])).toMatchObject({ status: 7 });
    rmSync(join(ada.path, '.git', `${KEPT_LIST}.lock`));
    expect(ada.as(['list', '--all'])).toMatchObject({ status: 0, stderr: '' });
    expect(ada.handoffs().size).toBe(COUNT);
  });

  it('is kept of a note that could not be pruned', () => {
    const ref = `refs/handoffs/${place(5)}`;
    const message = 'done\n\nClaude-Session-Id: sess-eve-1\nHandoff-State: closed\n';
    const parents = [world.server.ref(ref) ?? ''];
    const closed = forger.commit({ topic: topic(5), owner: 'sess-eve-1', parents, message });
    forger.point(ref, closed);
    ada.sync();
    writeFileSync(join(ada.path, '.git', `${ref}.lock`), '');
    ada.as(['prune', '--older-than', '0m', '--yes']);
    rmSync(join(ada.path, '.git', `${ref}.lock`));
    expect([ada.ref(ref), kept(), listed(KEPT_LIST).length]).toEqual([closed, [], COUNT]);
    ada.git(['update-ref', ref, `${ref}~1`]);
    expect(ada.as(['list']).stderr).toContain(`${ref} was moved`);
  });

  it('is kept of a note that was purged here, written there again, and fetched with many', () => {
    ada.sync();
    ada.as(['purge', topic(2), '--yes', '--take']);
    for (const ref of [LIST, ...tracking()]) drop(ref);
    for (const at of all.keys()) if (at !== 2) drop(`refs/handoffs/${place(at)}`);
    drop(KEPT_LIST);
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
    // The oldest protocol gives out only what it shows.
    ada.git(['config', 'protocol.version', '0']);
    const fetched = ada.as(['fetch'], { env: { PATH: `${folder}:${ada.env()['PATH']}` } });
    expect(fetched.status).toBe(0);
    expect(ada.handoffs()).toEqual(world.server.handoffs());
    expect(tracking()).toHaveLength(COUNT);
  });

  it('has tracking refs instead where the list cannot be written', () => {
    ada.git([
      'update-ref',
      'refs/handoffs-local/shown/other',
      ada.git(['hash-object', '-w', '--stdin'], { input: '' }),
    ]);
    writeFileSync(join(ada.path, '.git', `${LIST}.lock`), '');
    ada.as(['fetch']);
    expect(tracking()).toHaveLength(COUNT);
    world.server.git(['update-ref', '-d', `refs/handoffs/${place(9)}`]);
    expect(others()).toEqual([`deleted-there ${topic(9)}`]);
    expect(world.server.ref(`refs/handoffs/${place(9)}`)).toBeUndefined();
  });

  it('is fetched again where what it lists is gone and the note was written anew', () => {
    ada.sync();
    drop(`refs/handoffs/${place(5)}`);
    collect();
    ada.write(topic(5), 'anew\n');
    expect(others()).toEqual([`set-aside ${topic(5)}`, `pushed ${topic(5)}-2`]);
  });

  it('hides no secret of an older version when what it lists is gone', () => {
    ada.sync();
    drop(`refs/handoffs/${place(5)}`);
    collect();
    ada.write(topic(5), 'anew\n');
    world.server.git(['update-ref', '-d', `refs/handoffs/${place(5)}`]);
    ada.git(['config', 'handoff.secretScan', 'off']);
    ada.write('two-versions', ['token ghp', 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5\n'].join('_'));
    ada.write('two-versions', 'clean\n');
    ada.git(['config', '--unset', 'handoff.secretScan']);
    ada.as(['push', '--restore']);
    expect(world.server.ref('refs/handoffs/main/two-versions')).toBeUndefined();
  });
});
