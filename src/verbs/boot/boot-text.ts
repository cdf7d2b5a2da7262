import type { BootShape } from '../shapes.ts';
import { ago, escapeLine, shellWord } from '../../domain/messages.ts';
import { escapeForAgent } from '../../domain/note/sections.ts';
import type { NoteFinding, NoteVerdict } from '../../domain/verification/findings.ts';
import { ownerText } from '../handoff-shape.ts';
import { type Rendered, type TextContext, columns } from '../../ui/terminal.ts';

/** How much of a section of the note is shown. Characters. */
const MAX_SECTION = 2000;
/** Marks each line of the note, so that what others wrote cannot pass for what git-handoff checked. */
const MARK = '  | ';

const NO_ACTION = 'the note names no next action: ask before you begin';

/**
 * Shows what a session needs to continue: the note's goal, git-handoff's findings, and the next action that the note names.
 * Lines marked with `|` are quoted from the note.
 */
export function renderBoot(value: BootShape, { now }: TextContext): Rendered {
  const command = forAgent(`git handoff show ${shellWord(`${value.branch}/${value.topic}`)}`);
  const from = value.goalIsSummary ? 'Goal (the note has no such heading, this is its summary)' : 'Goal';
  const quote = (title: string, text: string | null) =>
    text === null ? [] : [`${title}:\n${quoted(text, command)}`];
  const blocks = [
    `${headLine(value, now)}\n${verdictLine(value)}\n`,
    ...quote(from, value.goal),
    ...quote('State, according to the note', value.currentState),
    ...group('Holds', value.findings, ['ok']),
    ...group('Does not hold', value.findings, ['stale', 'changed']),
    ...group('Unknown', value.findings, ['unknown']),
    ...(value.nextAction === null
      ? [`Next action: ${NO_ACTION}\n`]
      : quote(
          value.stale ? 'Next action, from before the note became stale' : 'Next action',
          value.nextAction,
        )),
    ...quote('Stop conditions', value.stopConditions),
    ...carriedLine(value),
    `The whole note: ${command}\n`,
  ];
  return blocks.join('\n');
}

function headLine(value: BootShape, now: number): string {
  const { writer, writerText, owner, writtenAt, writtenOn } = value;
  const ownerNow = forAgent(ownerText(value));
  const [by, owned] = writer === owner ? [ownerNow, ''] : [forAgent(writerText), `, owner now ${ownerNow}`];
  const base = writtenOn === null ? '' : `, on ${writtenOn.slice(0, 12)}`;
  const name = forAgent(`${value.branch}/${value.topic}`);
  return `${name}  ${by}  ${ago(Date.parse(writtenAt), now)}${base}${owned}`;
}

function verdictLine({ stale, findings }: BootShape): string {
  if (stale) {
    const reasons = findings.filter(({ verdict }) => verdict === 'stale').length;
    return `STALE, for ${reasons === 1 ? 'one reason' : `${reasons} reasons`}: check before you continue`;
  }
  return findings.some(({ verdict }) => verdict === 'changed')
    ? 'not stale; the repository has moved on since'
    : 'not stale';
}

function carriedLine({ branch, topic, carried }: BootShape): string[] {
  if (carried === null) return [];
  const { author, size, unpacks, why } = carried;
  const command = forAgent(`git handoff unpack ${shellWord(`${branch}/${topic}`)}`);
  const state = {
    cleanly: `it unpacks cleanly here: ${command}`,
    'is there': 'it is in this working tree already',
    no: `it does not unpack here: ${forAgent(why ?? '')}`,
    'not fetched': `not fetched yet: ${command} --dry-run`,
  };
  return [`Uncommitted work: ${size}, of ${forAgent(author)}; ${state[unpacks]}\n`];
}

/** Lists findings with the given verdicts, the worst first. */
function group(title: string, findings: readonly NoteFinding[], verdicts: readonly NoteVerdict[]): string[] {
  const some = verdicts.flatMap((verdict) => findings.filter((one) => one.verdict === verdict));
  if (some.length === 0) return [];
  const several = verdicts.length > 1;
  const rows = some.map(({ axis, verdict, text }) => [
    `  ${axis}`,
    ...(several ? [verdict] : []),
    forAgent(text),
  ]);
  return [`${title}:\n${columns(rows)}`];
}

/** Escapes a text for an agent: others may have chosen even the names of branches and paths. */
const forAgent = (text: string) => escapeForAgent(escapeLine(text));

function quoted(text: string, command: string): string {
  const characters = Array.from(text.slice(0, MAX_SECTION * 2));
  const isCut = characters.length > MAX_SECTION || text.length > MAX_SECTION * 2;
  const shown = escapeForAgent(isCut ? characters.slice(0, MAX_SECTION).join('') : text);
  const lines = shown.split('\n').map((line) => `${MARK}${line}`.trimEnd());
  return `${[...lines, ...(isCut ? [`… the rest: ${command}`] : [])].join('\n')}\n`;
}
