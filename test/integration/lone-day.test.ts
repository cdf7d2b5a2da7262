import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAnswer } from '../support/hook-answer.ts';
import { TestRepository } from '../support/repository.ts';
import { SED_IN_PLACE, SharingWorld, TEN } from '../support/sharing-world.ts';

/** What one person's agent does all day: its own calls, those of its sub-agents, and what its client does between them. */
type Step =
  | { readonly kind: 'write'; readonly path: string; readonly content: string; readonly agent?: string }
  | { readonly kind: 'bash'; readonly command: string; readonly agent?: string }
  | { readonly kind: 'clear' | 'compact' | 'resume' | 'stop' };

const bash = (command: string, agent?: string): Step =>
  agent === undefined ? { kind: 'bash', command } : { kind: 'bash', command, agent };
const write = (path: string, content: string, agent?: string): Step =>
  agent === undefined ? { kind: 'write', path, content } : { kind: 'write', path, content, agent };

/** One piece of work of some thirty tool calls, from a branch to main. At its end, main is clean for the next piece. */
const piece = (n: number): Step[] => [
  bash('git status --short && ls src'),
  bash(`git switch -q -c work-${n}`),
  write(`src/new-${n}.ts`, TEN),
  write('src/a.ts', TEN.replace('line 2\n', `line 2 of ${n}\n`)),
  write(`src/agent-${n}.ts`, `one of ${n}\n`, 'agent-x'),
  bash(`echo 'two of ${n}' >> src/agent-${n}.ts`, 'agent-y'),
  bash('git diff | head -20'),
  bash(`${SED_IN_PLACE} 's/line 3/LINE 3/' src/new-${n}.ts src/a.ts`),
  bash(`git add -A && git commit -q -m 'work ${n}'`),
  bash(`${SED_IN_PLACE} 's/ *$//' src/*.ts`),
  bash(`printf '%s\\n' 'more of ${n}' >> src/b.ts && git stash -q`),
  bash('git stash pop -q'),
  bash(`git commit -q -am 'more ${n}'`),
  bash(`git commit -q --amend -m 'more ${n}, reworded'`),
  { kind: 'stop' },
  write(`docs/${n}.md`, `page ${n}\n`, 'agent-x'),
  bash(`git stash push -q -u -m 'page ${n}'`),
  bash('git switch -q main'),
  bash(`echo 'main ${n}' >> shared.md && git commit -q -am 'main ${n}'`),
  bash(`git switch -q work-${n} && git rebase -q main`),
  bash(n % 2 === 0 ? 'git stash pop -q' : 'git stash apply -q'),
  bash(`git add docs && git commit -q -m 'page ${n}'`, 'agent-y'),
  bash(`git rm -q src/agent-${n}.ts && git commit -q -m 'drop ${n}'`),
  bash('git reset -q --soft HEAD~1 && git reset -q && git checkout -q -- .'),
  write('src/b.ts', `scratch ${n}\n`),
  bash('git restore src/b.ts'),
  bash(`mkdir -p tmp && touch tmp/${n} && git clean -fdq tmp`),
  bash('git switch -q main'),
  bash(`git merge -q --no-ff --no-edit work-${n}`),
  bash(n % 3 === 0 ? 'git revert --no-edit -m 1 HEAD && git revert --no-edit HEAD' : 'git log --oneline -3'),
  bash(`git mv src/new-${n}.ts src/made-${n}.ts && git commit -q -m 'rename ${n}'`),
  bash(`rm src/made-${n}.ts && git commit -q -am 'delete ${n}'`),
  bash(
    n % 2 === 0
      ? `git branch -q -D work-${n}`
      : `git tag done-${n} && git cherry-pick -n work-${n} && git reset -q --hard`,
  ),
];

/** The client's own events between two pieces of work. */
const BETWEEN = ['clear', 'compact', 'resume'] as const;
const PIECES = 12;
const DAY = Array.from({ length: PIECES }, (_, n): Step[] => [
  ...piece(n),
  { kind: BETWEEN[n % BETWEEN.length] ?? 'clear' },
  bash('git status --short'),
]).flat();

/** Plays the day with the guard's hooks. */
class GuardedDay {
  readonly refusals: unknown[] = [];
  readonly told: string[] = [];
  #session = 'dddddddd-0000-4000-8000-000000000000';
  #calls = 0;
  #sessions = 0;

  readonly world: SharingWorld;

  constructor(world: SharingWorld) {
    this.world = world;
  }

  begin(source = 'startup'): void {
    this.#hook('SessionStart', { source });
  }

  step(step: Step): void {
    switch (step.kind) {
      case 'write': {
        this.#write(step);
        return;
      }
      case 'bash': {
        this.#bash(step);
        return;
      }
      case 'stop': {
        this.#hook('Stop', { stop_hook_active: false });
        return;
      }
      case 'compact':
        this.#hook('PreCompact', { trigger: 'auto' });
        {
          this.begin('compact');
          return;
        }
      case 'resume':
        this.#hook('SessionEnd', { reason: 'prompt_input_exit' });
        {
          this.begin('resume');
          return;
        }
      case 'clear':
        this.#hook('SessionEnd', { reason: 'clear' });
        this.#session = `dddddddd-0000-4000-8000-${String((this.#sessions += 1)).padStart(12, '0')}`;
        {
          this.begin('clear');
          return;
        }
    }
  }

  #write({ path, content, agent }: Extract<Step, { kind: 'write' }>): void {
    const tool = this.#tool('Write', { file_path: join(this.world.path, path), content }, agent);
    this.#hook('PreToolUse', tool);
    put(this.world, path, content);
    this.#hook('PostToolUse', tool);
    this.#stop(agent);
  }

  #bash({ command, agent }: Extract<Step, { kind: 'bash' }>): void {
    const tool = this.#tool('Bash', { command }, agent);
    this.#hook('PreToolUse', tool);
    const { stdout, stderr } = this.world.run('bash', ['-c', command], { session: this.#session });
    this.told.push(...`${stdout}\n${stderr}`.split('\n').filter((line) => line.includes('handoff')));
    this.#hook('PostToolUse', { ...tool, tool_response: { stdout, stderr } });
    this.#stop(agent);
  }

  /** Ends the sub-agent before its session continues. */
  #stop(agent: string | undefined): void {
    if (agent !== undefined) this.#hook('SubagentStop', { agent_id: agent, stop_hook_active: false });
  }

  #tool(tool_name: string, tool_input: object, agent: string | undefined): Readonly<Record<string, unknown>> {
    const tool_use_id = `toolu_${(this.#calls += 1)}`;
    return { tool_name, tool_input, tool_use_id, ...(agent === undefined ? {} : { agent_id: agent }) };
  }

  #hook(event: string, payload: Readonly<Record<string, unknown>>): void {
    const full = { session_id: this.#session, hook_event_name: event, ...payload };
    const answer = readAnswer(this.world.guard(full), event);
    if (answer.kind === 'silent') return;
    if (answer.kind === 'context' || answer.kind === 'notice') this.told.push(answer.text);
    else this.refusals.push({ event, payload, answer });
  }
}

function put(world: TestRepository, path: string, content: string): void {
  mkdirSync(dirname(join(world.path, path)), { recursive: true });
  writeFileSync(join(world.path, path), content);
}

/** The same day on a machine that has never heard of git-handoff. */
function playPlain(world: TestRepository): void {
  for (const step of DAY) {
    if (step.kind === 'write') put(world, step.path, step.content);
    if (step.kind === 'bash') world.run('bash', ['-c', step.command]);
  }
}

/** All that a person would find at the end, except trailers and the object names that depend on them. */
function left(world: TestRepository): Readonly<Record<string, unknown>> {
  const history = (ref: string) =>
    world
      .git(['log', '--topo-order', '--format=%T %ad %cd %an %cn%n%P%n%B%x00', ref])
      .split('\0')
      .map((commit) => {
        const [facts, parents = '', ...message] = commit.trim().split('\n');
        const words = message.join('\n').replace(/\n*^Claude-Session-Id: .*$/gm, '');
        return [facts, parents.split(' ').length, words.replace(/\b(?:[0-9a-f]{40}|[0-9a-f]{64})\b/g, 'oid')];
      });
  const refs = world.refs('refs/heads').concat(world.refs('refs/tags'));
  return {
    head: world.git(['symbolic-ref', 'HEAD']),
    refs: Object.fromEntries(refs.map((ref) => [ref, history(ref)])),
    stash: world.git(['log', '-g', '--format=%T %gs', 'refs/stash']).replace(/: [0-9a-f]{7,40} /g, ': '),
    index: world.git(['ls-files', '--stage']),
    status: world.git(['status', '--porcelain', '-uall']),
    tree: world.run('sh', ['-c', 'find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 cksum'])
      .stdout,
  };
}

describe('a day of a lone session, with sub-agents, /clear, compaction and resume', () => {
  let day: GuardedDay;
  let plain: TestRepository;
  beforeAll(() => {
    day = new GuardedDay(new SharingWorld());
    plain = new TestRepository();
    plain.commit('files', { 'src/a.ts': TEN, 'src/b.ts': TEN, 'shared.md': TEN });
    day.begin();
    for (const step of DAY) day.step(step);
    playPlain(plain);
  });
  afterAll(() => {
    day.world.remove();
    plain.remove();
  });

  it('is refused nothing', () => {
    expect(day.refusals).toEqual([]);
    expect(day.world.guardLog()).toBe('');
  });

  it('leaves the same commits, refs, stash, index and files as without git-handoff', () => {
    expect(left(day.world)).toEqual(left(plain));
  });

  it('hears no more than 120 tokens in all', () => {
    const characters = day.told.join('').length;
    expect(Math.ceil(characters / 4), day.told.join('\n---\n')).toBeLessThanOrEqual(120);
  });
});
