import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clone, Clones, refValues } from '../support/clones.ts';

/** In a development version, lists held the tracking refs and accepted tips of many notes: blobs of `<oid> <branch>/<topic>`. */

const KEPT = 'refs/handoffs-local/kept';
const REMOTE = 'refs/handoffs-remote/origin';
const KEPT_LIST = 'refs/handoffs-local/kept-list';
const SHOWN = 'refs/handoffs-local/shown/origin';
const TOPICS = ['one-topic', 'two-topic', 'three-topic'];
const NOTE = 'refs/handoffs/main/two-topic';

let world: Clones;
let ada: Clone;
/** The bookkeeping refs, before lists replaced them. */
let former: ReadonlyMap<string, string>;

const bookkeeping = () => new Map([...refValues(ada, KEPT), ...refValues(ada, 'refs/handoffs-remote')]);
const lists = () => [ada.ref(KEPT_LIST), ada.ref(SHOWN)].filter((oid) => oid !== undefined);
const drop = (ref: string) => ada.git(['update-ref', '-d', ref]);
const blob = (input: string) => ada.git(['hash-object', '-w', '--stdin'], { input });

/** Replaces all refs under a prefix by a list, as that version did. */
function listInstead(prefix: string, list: string, more = ''): void {
  const refs = [...refValues(ada, prefix)];
  const lines = refs.map(([name, oid]) => `${oid} ${name.slice(prefix.length + 1)}\n`).join('');
  ada.git(['update-ref', list, blob(lines + more)]);
  for (const [name] of refs) drop(name);
}

function leaveLists(): void {
  former = bookkeeping();
  listInstead(KEPT, KEPT_LIST);
  listInstead(REMOTE, SHOWN);
}

beforeEach(async () => {
  world = await Clones.start();
  ada = world.clone('Ada');
  for (const topic of TOPICS) ada.write(topic, `${topic}\n`);
  ada.sync();
});
afterEach(() => world.remove());

describe('a clone with lists of a development version', () => {
  it.each([
    [['list']],
    [['fetch']],
    [['sync']],
    [['status']],
    [['doctor']],
    [['show', 'two-topic']],
    [['log', 'two-topic']],
    [['boot']],
  ])('has a ref for each entry again after %j, and no list', (words) => {
    leaveLists();
    const run = ada.as(words);
    expect([run.status, run.stderr]).toEqual([0, expect.not.stringContaining('refs/handoffs')]);
    expect(bookkeeping()).toEqual(former);
    expect(lists()).toEqual([]);
  });

  it('has a ref for each entry again after the start of a session', () => {
    leaveLists();
    const payload = { hook_event_name: 'SessionStart', session_id: ada.session, cwd: ada.path };
    const input = JSON.stringify({ ...payload, source: 'startup', transcript_path: '/tmp/x' });
    const start = ada.handoff(['guard', '--agent', 'claude'], { input });
    expect(start).toMatchObject({ status: 0 });
    expect(ada.as(['list'])).toMatchObject({ status: 0, stderr: '' });
    expect(bookkeeping()).toEqual(former);
  });

  it('continues the version that a list names when a note is written', () => {
    leaveLists();
    const next = ada.write('two-topic', 'second\n');
    expect(ada.git(['rev-parse', `${next}~1`])).toBe(former.get(`${KEPT}/main/two-topic`));
    expect([ada.ref(NOTE), ada.ref(`${KEPT}/main/two-topic`)]).toEqual([next, next]);
    expect(lists()).toEqual([]);
  });

  it('reports a note that was deleted by hand', () => {
    leaveLists();
    drop(NOTE);
    expect(ada.as(['list']).stderr).toContain(`${NOTE} was deleted`);
    expect(ada.as(['doctor', '--fix']).status).toBe(0);
    expect(ada.handoffs()).toEqual(world.server.handoffs());
  });

  it('does not push a note again to a remote that deleted it', () => {
    leaveLists();
    world.server.git(['update-ref', '-d', NOTE]);
    expect(ada.actions(ada.syncJson())).toEqual(['deleted-there two-topic']);
    expect(world.server.ref(NOTE)).toBeUndefined();
  });

  it('prunes a note as if there had been no list', () => {
    ada.as(['close', 'two-topic']);
    ada.sync();
    leaveLists();
    expect(ada.as(['delete', '--closed', '--older-than', '0m', '--yes']).status).toBe(0);
    expect(ada.ref(NOTE)).toBeUndefined();
    expect(ada.ref(`${KEPT}/main/two-topic`)).toBeUndefined();
    expect(ada.actions(ada.syncJson())).toEqual([]);
    expect(ada.ref(NOTE)).toBeUndefined();
  });

  it('purges a note as if there had been no list', () => {
    leaveLists();
    expect(ada.as(['delete', 'two-topic', '--yes']).status).toBe(0);
    expect([...bookkeeping().keys()].filter((name) => name.endsWith('/two-topic'))).toEqual([]);
    expect(ada.actions(ada.syncJson())).toEqual([]);
  });
});

describe('an entry of a list', () => {
  it('is ignored if there is a ref, which is newer', () => {
    leaveLists();
    const [kept, tracking] = [`${KEPT}/main/two-topic`, `${REMOTE}/main/two-topic`];
    const next = ada.write('two-topic', 'second\n');
    listInstead(KEPT, KEPT_LIST);
    ada.git(['update-ref', kept, next]);
    ada.git(['update-ref', tracking, next]);
    ada.git(['update-ref', SHOWN, blob(`${former.get(tracking)} main/two-topic\n`)]);
    expect(ada.as(['list'])).toMatchObject({ status: 0, stderr: '' });
    expect([ada.ref(kept), ada.ref(tracking), lists()]).toEqual([next, next, []]);
  });

  it('is ignored if its commit is gone, or it is not a valid entry', () => {
    former = bookkeeping();
    const gone = '1234567890123456789012345678901234567890';
    const strange = `${gone} main/gone-topic\n${blob('x')} main/blob-topic\nnonsense\n${gone} ../../heads/x\n`;
    listInstead(KEPT, KEPT_LIST, strange);
    listInstead(REMOTE, SHOWN, strange);
    expect(ada.as(['list'])).toMatchObject({ status: 0, stderr: '' });
    expect(bookkeeping()).toEqual(former);
    expect(lists()).toEqual([]);
  });

  it('is ignored if a program that knows no lists has pruned the note', () => {
    leaveLists();
    const tip = former.get(`${KEPT}/main/two-topic`) ?? '';
    ada.git(['update-ref', 'refs/handoffs-local/pruned/main/two-topic', blob(`${tip}\n`)]);
    drop(NOTE);
    expect(ada.as(['list', '--all'])).toMatchObject({ status: 0, stderr: '' });
    expect([...bookkeeping().keys()].filter((name) => name.endsWith('/two-topic'))).toEqual([]);
    expect(ada.actions(ada.syncJson())).toEqual([]);
  });
});

describe('the migration of lists', () => {
  /** The environment in which `script` runs before git's update-ref, with git as `$real`, and its standard input as `$input`. */
  function gitBehind(script: string): { PATH: string } {
    const [folder, real] = [join(ada.root, 'bin'), ada.run('sh', ['-c', 'command -v git']).stdout.trim()];
    mkdirSync(folder);
    const lines = [
      `real='${real}' input='${join(ada.root, 'input')}' once='${join(ada.root, 'once')}'`,
      'case " $* " in *" update-ref "*) cat >"$input" ;; *) exec "$real" "$@" ;; esac',
      `if [ ! -e "$once" ] && grep -q " ${KEPT}/main/two-topic " "$input"; then : >"$once"; ${script}; fi`,
      'exec "$real" "$@" <"$input"',
    ];
    writeFileSync(join(folder, 'git'), `#!/bin/sh\n${lines.join('\n')}\n`);
    chmodSync(join(folder, 'git'), 0o755);
    return { PATH: `${folder}:${ada.env()['PATH']}` };
  }

  it('continues after it was killed', () => {
    leaveLists();
    ada.git(['update-ref', `${KEPT}/main/two-topic`, former.get(`${KEPT}/main/two-topic`) ?? '']);
    ada.git(['update-ref', `${REMOTE}/main/two-topic`, former.get(`${REMOTE}/main/two-topic`) ?? '']);
    expect(ada.as(['list'])).toMatchObject({ status: 0, stderr: '' });
    expect([bookkeeping(), lists()]).toEqual([former, []]);
  });

  it('loses nothing if it is killed before it has made its refs', () => {
    leaveLists();
    const env = gitBehind('kill -9 $PPID; exit 1');
    expect(ada.as(['list'], { env, calls: 'process' }).status).not.toBe(0);
    expect(lists()).toHaveLength(2);
    expect(ada.as(['list'])).toMatchObject({ status: 0, stderr: '' });
    expect([bookkeeping(), lists()]).toEqual([former, []]);
  });

  it('accepts that another process was faster', () => {
    leaveLists();
    const env = gitBehind('"$real" "$@" <"$input" >/dev/null');
    expect(ada.as(['list'], { env, calls: 'process' })).toMatchObject({ status: 0, stderr: '' });
    expect([bookkeeping(), lists()]).toEqual([former, []]);
  });
});
