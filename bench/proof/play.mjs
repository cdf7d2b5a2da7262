/**
 * Plays a scenario with a tool. Each call is shown to the client's hooks, is made unless they refuse it, and is then reported
 * to them. The oracle judges what is left.
 *
 * @typedef {object} Scenario
 * @property {string} report the public thread, `owner/name#number`
 * @property {string} title what happens, in our own words
 * @property {Record<string, string>} [files] in the first commit, in addition to `FILES`
 * @property {'worktrees'} [layout] the sessions of the report already had one worktree each
 * @property {string} [prepare] a command in the first checkout, before any tool is installed
 * @property {boolean} [remote] there is an `origin`
 * @property {import('./steps.mjs').Step[]} steps
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { judge } from './oracle.mjs';
import { World } from './world.mjs';

/** Ten numbered lines. */
export const TEN = Array.from({ length: 10 }, (_, n) => `line ${n + 1}\n`).join('');
/** The files that every repository begins with. */
export const FILES = { 'README.md': 'the project\n', 'src/a.js': TEN, 'src/b.js': TEN, 'shared.md': TEN };

/** git's options for all branches, and for all that git keeps. */
const BRANCHES = ['--exclude=refs/handoffs*', '--exclude=refs/stash', '--all'];
const EVERYTHING = ['--exclude=refs/handoffs*', '--all', '--reflog'];

const linesOf = (text) => text.split('\n').filter((line) => line.trim() !== '');
const hex = (text, length) => createHash('sha1').update(text).digest('hex').slice(0, length);
const idOf = (session) => `${hex(session, 8)}-1111-4111-8111-${hex(session, 12)}`;

/**
 * @param {Scenario} scenario
 * @param {import('./adapter.mjs').Adapter} adapter
 */
export async function play(scenario, adapter) {
  const stage = new Stage(scenario, adapter);
  try {
    await stage.play();
    const facts = stage.facts();
    return { counts: judge(facts), cost: stage.world.cost, calls: stage.calls };
  } finally {
    stage.world.remove();
  }
}

class Stage {
  calls = [];
  #lines = [];
  #removals = [];
  #notes = [];
  #commits = new Map();
  #workers = new Map();
  #clients = new Map();
  #base;

  constructor(scenario, adapter) {
    this.scenario = scenario;
    this.adapter = adapter;
    const files = { ...FILES, ...scenario.files };
    this.#base = new Set(Object.values(files).flatMap(linesOf));
    this.world = new World(files);
    if (scenario.remote) this.#addRemote();
    writeFileSync(join(this.world.home, '.claude', 'settings.json'), '{}\n');
    if (scenario.prepare !== undefined) this.world.run('sh', ['-c', scenario.prepare]);
    adapter.install?.(this.world);
  }

  #addRemote() {
    const remote = join(this.world.dir, 'origin.git');
    this.world.git(['clone', '-q', '--bare', '.', remote]);
    this.world.git(['remote', 'add', 'origin', remote]);
    this.world.git(['fetch', '-q', 'origin']);
    this.world.git(['branch', '-q', '--set-upstream-to=origin/main']);
  }

  async play() {
    const { steps } = this.scenario;
    for (const oid of this.#oids()) this.#commits.set(oid, undefined);
    const late = new Set(steps.filter(({ act }) => act === 'start').map(({ who }) => who));
    const all = new Set(steps.map(({ who }) => who).filter((who) => who !== 'person'));
    for (const who of all) if (!late.has(who)) await this.#start(who);
    for (const step of steps) await this.#step(step);
  }

  /** Where a worker works: in the first checkout, or in its own worktree. */
  #checkout(who) {
    if (this.scenario.layout !== 'worktrees' && this.adapter.ownWorktrees !== true) return this.world.primary;
    const name = who.replace('/', '-');
    const path = join(this.world.dir, `worktree-${name}`);
    if (!existsSync(path)) this.world.git(['worktree', 'add', '-q', '-b', `work-${name}`, path]);
    return path;
  }

  async #start(who) {
    const [session, agent] = who.split('/');
    const checkout = this.#checkout(agent === undefined || this.adapter.ownWorktrees ? who : session);
    let client = this.#clients.get(session);
    if (client === undefined || !client.isRunning) {
      client = this.world.client(
        session + this.#clients.size + this.calls.length,
        idOf(session),
        this.#checkout(session),
      );
      this.#clients.set(session, client);
      await client.fire('SessionStart', {});
    }
    const agentId = agent === undefined ? undefined : `a${hex(who, 16)}`;
    if (agentId !== undefined) await client.fire('SubagentStart-subagent', {}, { agent: agentId, checkout });
    const branch = this.#branch(checkout);
    this.#workers.set(who, {
      client,
      agent: agentId,
      checkout,
      branch,
      branches: new Set([branch]),
      places: new Set([checkout]),
    });
  }

  #branch(checkout) {
    return this.world.git(['symbolic-ref', '-q', '--short', 'HEAD'], { cwd: checkout, mayFail: true }).trim();
  }

  #oids() {
    return this.world
      .git(['rev-list', ...BRANCHES])
      .split('\n')
      .filter(Boolean);
  }

  async #step(step) {
    if (step.act === 'start') return this.#start(step.who);
    if (step.act === 'person') return this.world.run('bash', ['-c', step.command], { mayFail: true });
    const worker = this.#workers.get(step.who);
    if (['stop', 'end', 'crash', 'clear'].includes(step.act)) return this.#leave(step, worker);
    const { outcome, note } = await this.#call(step, worker);
    this.calls.push({ ...step, outcome, harms: step.harms === true, note });
    this.#whoCommitted(step.who, worker);
    if (outcome === 'ran' && step.goesTo !== undefined) this.#goes(worker);
    if (outcome === 'ran' && step.in === 'primary') worker.places.add(this.world.primary);
    if (outcome !== 'refused') return undefined;
    for (const other of [step.whenRefused ?? []].flat()) await this.#step(other);
    return undefined;
  }

  /** Records that a worker has moved to its present branch on purpose. */
  #goes(worker) {
    worker.branch = this.#branch(worker.checkout);
    worker.branches.add(worker.branch);
  }

  async #leave({ act }, { client, agent, checkout }) {
    if (agent !== undefined) return client.fire('SubagentStop-subagent', {}, { agent, checkout });
    if (act === 'stop') return client.fire('Stop', {});
    if (act === 'clear') return client.clear(idOf(`${client.id} cleared`));
    if (act === 'end') await client.fire('SessionEnd', {});
    return client.kill();
  }

  /** Attributes new commits to the worker whose call has just made them. */
  #whoCommitted(who, { checkout, branch: own }) {
    const branch = this.#branch(checkout);
    for (const oid of this.#oids()) {
      if (this.#commits.has(oid)) continue;
      this.#commits.set(oid, { by: who, isOnOwnBranch: branch === own });
    }
  }

  #call(step, worker) {
    switch (step.act) {
      case 'write':
        return this.#file(step, worker, () => step.text);
      case 'edit':
        return this.#file(step, worker, (text) =>
          text.includes(step.from) ? text.replace(step.from, () => step.to) : undefined,
        );
      case 'run':
        return this.#run(step, worker, step.command);
      case 'commit':
        return this.#run(step, worker, this.adapter.commit(step));
      case 'note':
        return this.#note(step, worker);
      default:
        throw new Error(`no such act: "${step.act}" (bench/proof/steps.mjs)`);
    }
  }

  /** @param {(text: string) => string | undefined} change gives undefined if the text to replace is not there */
  async #file(step, worker, change) {
    const { client, checkout } = worker;
    const file = join(step.in === 'primary' ? this.world.primary : checkout, step.path);
    const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const after = change(before);
    if (after === undefined) return { outcome: 'failed', note: 'no such text' };
    const input =
      step.act === 'edit'
        ? { file_path: file, old_string: step.from, new_string: step.to, replace_all: false }
        : { file_path: file, content: after };
    const tool = step.act === 'edit' ? 'Edit' : 'Write';
    const { denied } = await client.tool(tool, input, worker, ({ content = after }) => {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return { filePath: file, originalFile: before, structuredPatch: [], userModified: false };
    });
    if (denied !== undefined) return { outcome: 'refused', note: denied };
    const [old, now] = [linesOf(before), linesOf(after)];
    this.#wrote(
      step.who,
      now.filter((line) => !old.includes(line)),
    );
    this.#tookBack(
      step.who,
      old.filter((line) => !now.includes(line)),
    );
    return { outcome: 'ran' };
  }

  async #run(step, worker, command) {
    const { client, checkout } = worker;
    const cwd = step.in === 'primary' ? this.world.primary : checkout;
    const typed = { command, description: 'x' };
    const done = await client.tool('Bash', typed, worker, async ({ command: line }) => {
      const run = await client.shell(line, { cwd: existsSync(cwd) ? cwd : this.world.primary });
      const response = { ...run, interrupted: false, isImage: false, noOutputExpected: false };
      return { ...response, isError: run.status !== 0 };
    });
    if (done.denied !== undefined) return { outcome: 'refused', note: done.denied };
    const { status, stdout, stderr } = done;
    const isRefused = status !== 0 && this.adapter.refused?.(done) === true;
    if (isRefused) this.world.cost.bytes += Buffer.byteLength(stdout + stderr);
    if (status !== 0) return { outcome: isRefused ? 'refused' : 'failed', note: stdout + stderr };
    this.#wrote(step.who, step.adds ?? []);
    this.#tookBack(step.who, step.drops ?? []);
    this.#removals.push(...(step.removes ?? []).map((text) => ({ text, by: step.who })));
    return { outcome: 'ran', note: stdout + stderr };
  }

  async #note(step, worker) {
    const { checkout, client } = worker;
    const how = this.adapter.note({
      ...step,
      id: client.id,
      checkout,
      world: this.world,
      branch: this.#branch(checkout),
    });
    const { act: _, ...rest } = step;
    const done =
      how.command === undefined
        ? await this.#noteFile({ ...step, ...how }, worker)
        : await this.#run(rest, worker, how.command);
    if (done.outcome === 'ran') this.#notes.push({ by: step.who, lines: linesOf(step.text) });
    return done;
  }

  /** Writes a note into a file; its lines do not count as work. */
  async #noteFile({ path: given, text }, worker) {
    const path = resolve(worker.checkout, given);
    const input = { file_path: path, content: text };
    const { denied } = await worker.client.tool('Write', input, worker, ({ content }) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return { type: 'create', filePath: path, content, structuredPatch: [], originalFile: null };
    });
    return denied === undefined ? { outcome: 'ran' } : { outcome: 'refused', note: denied };
  }

  /** Attributes lines to a worker, unless another worker wrote them first or the first commit has them. */
  #wrote(who, lines) {
    for (const text of lines) {
      const known = this.#lines.find((line) => line.text === text);
      if (known === undefined && !this.#base.has(text)) this.#lines.push({ text, by: who });
    }
  }

  #tookBack(who, lines) {
    this.#lines = this.#lines.filter(({ text, by }) => by !== who || !lines.includes(text));
  }

  /** @returns {import('./oracle.mjs').Facts} */
  facts() {
    const { world, adapter } = this;
    const checkouts = [
      ...new Set([world.primary, ...[...this.#workers.values()].map((one) => one.checkout)]),
    ].filter((path) => existsSync(path));
    const held = checkouts.flatMap((cwd) =>
      linesOf(world.git(['grep', '--cached', '-h', '-I', '-e', ''], { cwd, mayFail: true })),
    );
    return {
      lines: this.#lines,
      removals: this.#removals,
      workers: Object.fromEntries([...this.#workers].map(([who, worker]) => [who, this.#standing(worker)])),
      commits: this.#madeCommits(),
      kept: new Set([...held, ...this.#objects()]),
      saved: new Set((adapter.saved?.(world) ?? []).flatMap(linesOf)),
      notes: this.#notes,
      readable: new Set(adapter.readableNotes(world, checkouts).flatMap(linesOf)),
      calls: this.calls,
    };
  }

  #standing({ client, places, branches }) {
    const { world } = this;
    const tips = [...branches].flatMap((branch) => {
      const ref = `refs/heads/${branch}`;
      const of = (...args) => linesOf(world.git(args, { mayFail: true }));
      // Lines of commit messages are work, too.
      return [...of('grep', '-h', '-I', '-e', '', ref), ...of('log', '--format=%B', ref)];
    });
    return {
      session: client.id,
      disk: new Set([...places].flatMap(filesBelow).flatMap(linesOf)),
      tips: new Set(tips),
    };
  }

  /** The contents of everything that git's refs and reflogs reach. */
  #objects() {
    const { world } = this;
    const names = world.git(['rev-list', '--objects', '--no-object-names', ...EVERYTHING]);
    return linesOf(world.git(['cat-file', '--batch'], { input: names }));
  }

  /** The commits that the play made on branches, with the lines that each adds or removes relative to every parent. */
  #madeCommits() {
    const format = '--format=%x00%H%x00%B%x00';
    const log = this.world
      .git(['log', '-m', '-p', '-U0', '--no-renames', '--no-color', format, ...BRANCHES])
      .split('\0')
      .slice(1);
    const made = new Map();
    for (let at = 0; at + 2 < log.length; at += 3) {
      const [oid, message, patch] = log.slice(at, at + 3);
      const added = [...patch.matchAll(/^\+(?!\+\+ )(.*)$/gm)].map(([, line]) => line);
      const removed = [...patch.matchAll(/^-(?!-- )(.*)$/gm)].map(([, line]) => line);
      const known = made.get(oid) ?? { added, removed };
      const inBoth = (one, other) => one.filter((line) => other.includes(line));
      made.set(oid, { message, added: inBoth(known.added, added), removed: inBoth(known.removed, removed) });
    }
    return [...made].flatMap(([oid, commit]) => {
      const maker = this.#commits.get(oid);
      return maker === undefined ? [] : [{ ...maker, ...commit }];
    });
  }
}

/** The texts of all files in a checkout. */
function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.name === '.git') return [];
    return entry.isDirectory() ? filesBelow(path) : [readFileSync(path, 'utf8')];
  });
}
