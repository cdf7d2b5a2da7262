/**
 * The command lines of a page of documentation. test/e2e/docs.test.ts runs fenced blocks of `sh` and `console`, unless
 * an HTML comment before a block says otherwise. Such a comment can also prepare what a reader already has:
 *
 *   <!-- docs-test: not run, <why> -->          the next block is left out: it needs a network or a real client
 *   <!-- docs-test: run by test/<file> -->      the next block is run by that test
 *   <!-- docs-test: new world -->               a fresh repository, home and remote; `new world, codex`: Codex sessions
 *   <!-- docs-test: first                       command lines to type that the page does not show
 *   A$ echo 'retries: 3' > retry.yml
 *   -->
 */

/** Who types: a session, a person at this machine, or the person at a second one. */
export type Typist = 'A' | 'B' | 'person' | 'laptop';
export type ClientName = 'claude' | 'codex' | 'gemini';

export type Step = { readonly line: number } & (
  | { readonly kind: 'type'; readonly who: Typist; readonly command: string; readonly shows?: string }
  | { readonly kind: 'world'; readonly client: ClientName }
  | { readonly kind: 'left-out'; readonly why: string }
  | { readonly kind: 'elsewhere'; readonly test: string }
  | { readonly kind: 'wrong'; readonly what: string }
);

/** Languages of blocks that hold data or pictures, not commands. */
const DATA = new Set(['text', 'yaml', 'json', 'markdown', 'toml']);
const PART = /^(?:```(\w*)\n(.*?)^```$|<!-- docs-test: (.*?)\s*-->$)/gms;
const PROGRAMS = /\b(?:npm|npx|node|claude|codex|gemini|apt-get|curl|ssh|sudo)(?= )(?!.*git handoff)/;
const PROMPT = /^(A|B|laptop)?\$ (.*)$/;

/** The steps to do for a page, in its order. */
export function stepsOf(markdown: string): Step[] {
  const steps: Step[] = [];
  let excuse: Step | undefined;
  for (const part of markdown.matchAll(PART)) {
    const [, language, content = '', marker] = part;
    const line = markdown.slice(0, part.index).split('\n').length;
    if (marker !== undefined) {
      if (excuse !== undefined) steps.push(unused(excuse));
      excuse = undefined;
      const read = markerSteps(marker, line);
      if (read.some(({ kind }) => kind === 'left-out' || kind === 'elsewhere')) excuse = read[0];
      else steps.push(...read);
      continue;
    }
    if (DATA.has(language ?? '')) continue;
    steps.push(...(excuse === undefined ? blockSteps(language ?? '', content, line) : [excuse]));
    excuse = undefined;
  }
  return excuse === undefined ? steps : [...steps, unused(excuse)];
}

const unused = ({ line }: Step): Step => ({ kind: 'wrong', line, what: 'the marker is before no block' });

function markerSteps(marker: string, line: number): Step[] {
  const [, why] = /^not run, (.+)$/s.exec(marker) ?? [];
  if (why !== undefined) return [{ kind: 'left-out', line, why }];
  const [, test] = /^run by (test\/\S+)$/.exec(marker) ?? [];
  if (test !== undefined) return [{ kind: 'elsewhere', line, test }];
  const [world, client = 'claude'] = /^new world(?:, (claude|codex|gemini))?$/.exec(marker)?.values() ?? [];
  if (world !== undefined) return [{ kind: 'world', line, client: client as ClientName }];
  const [, hidden] = /^first\n(.*)$/s.exec(marker) ?? [];
  if (hidden === undefined) return [{ kind: 'wrong', line, what: `unknown marker: ${marker}` }];
  return consoleSteps(hidden, line).map((step) => withoutOutput(step));
}

function withoutOutput(step: Step): Step {
  if (step.kind !== 'type') return step;
  const { shows, ...rest } = step;
  return shows === '' ? rest : { kind: 'wrong', line: step.line, what: 'a hidden command shows nothing' };
}

function blockSteps(language: string, content: string, line: number): Step[] {
  if (language === 'console') return consoleSteps(content, line);
  if (language !== 'sh') return [{ kind: 'wrong', line, what: `a block of "${language}", run by nothing` }];
  return [...lines(content.replaceAll(/\\\n\s*/g, ''), line)]
    .filter(([text]) => text !== '' && !text.startsWith('#'))
    .map(([command, line]) => typed({ kind: 'type', line, who: 'person', command }));
}

/** Checks that a line neither installs anything nor starts a client. */
function typed(step: Step & { kind: 'type' }): Step {
  const [program] = PROGRAMS.exec(step.command) ?? [];
  if (program === undefined) return step;
  return { kind: 'wrong', line: step.line, what: `${program} is not run here: say why before the block` };
}

function consoleSteps(content: string, line: number): Step[] {
  const steps: Step[] = [];
  for (const [text, at] of lines(content, line)) {
    const [, who = 'person', command] = PROMPT.exec(text) ?? [];
    const last = steps.at(-1);
    if (command !== undefined) {
      steps.push(typed({ kind: 'type', line: at, who: who as Typist, command, shows: '' }));
    } else if (last?.kind === 'type') {
      steps[steps.length - 1] = { ...last, shows: `${last.shows ?? ''}${text}\n` };
    } else {
      steps.push({ kind: 'wrong', line: at, what: `output of no command: ${text}` });
    }
  }
  return steps;
}

/** Lines with their numbers on the page. `before` is the number of the line above them, a fence or marker. */
function* lines(content: string, before: number): Generator<readonly [string, number]> {
  const all = content.replace(/\n$/, '').split('\n');
  for (const [index, text] of all.entries()) yield [text, before + index + 1];
}
