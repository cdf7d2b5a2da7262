import { ago, escapeLine, escapeText, shellWord } from '../../domain/messages.ts';
import { ownerName, peerName, shortOid } from '../../domain/names.ts';
import type { RemoteRelation } from '../../domain/tracking/relation.ts';
import { workSizeText } from '../../domain/snapshot.ts';
import { type Rendered, type TextContext, columns } from '../../ui/terminal.ts';
import { MAX_AUTOMATIC } from '../../notes/topic-argument.ts';
import { ownerText, remoteLines } from '../handoff-shape.ts';
import type { HandoffShape, ListedShape, LostShape, VersionShape } from '../shapes.ts';
import type { AckValue, StateValue, TakeValue } from './change-state.ts';
import type { LogValue, NoteDiffValue } from './log.ts';
import type { ListValue } from './list.ts';
import type { ShowValue } from './show.ts';

const name = (item: HandoffShape) => escapeLine(`${item.branch}/${item.topic}`);
const age = (item: { createdAt: string }, now: number) => ago(Date.parse(item.createdAt), now);

/** Tells which note was written. */
export function renderWritten(value: HandoffShape, { clients }: TextContext): Rendered {
  const from = value.takenFrom === null ? '' : `, taken from ${peerName(value.takenFrom, { clients })}`;
  return `left ${name(value)} (${shortOid(value.oid)})${from}\n`;
}

/** Tells whose the note was. */
export function renderTaken(value: TakeValue, { clients }: TextContext): Rendered {
  if (!value.taken) return `${name(value)} is yours already\n`;
  const from = value.takenFrom === null ? '' : ` from ${peerName(value.takenFrom, { clients })}`;
  return `took ${name(value)}${from} (${shortOid(value.oid)})\n`;
}

/** Says that a note was closed or reopened, or that it already was closed or open. */
export function renderState(value: StateValue): Rendered {
  if (!value.changed) return `${name(value)} was ${value.state} already\n`;
  return `${value.state === 'closed' ? 'closed' : 'reopened'} ${name(value)} (${shortOid(value.oid)})\n`;
}

/** Tells whether the note already counted as read. */
export function renderAck(value: AckValue): Rendered {
  const done = value.changed ? `marked ${name(value)} as read` : `${name(value)} was read already`;
  return `${done} (${shortOid(value.oid)})\n`;
}

/** Prints a note, or the list of its lost texts. */
export function renderShown(value: ShowValue, { now }: TextContext): Rendered {
  if (value.kind === 'lost') return renderLost(value.items, now);
  const base = value.base === null ? '' : `, on ${value.base.slice(0, 12)}`;
  const to = value.to === null ? '' : ` for ${escapeLine(value.to)}`;
  const head = `${name(value)}  ${value.state}  ${ownerText(value)}${to}  ${age(value, now)}${base}\n${value.oid}\n${workLine(value)}\n`;
  const body = 'note' in value ? value.note : Buffer.from(value.noteBase64, 'base64').toString('latin1');
  const text = escapeText(body);
  return head + text + (text.endsWith('\n') ? '' : '\n');
}

/** Tells what work an open note carries. A closed note's work was deleted, or moved to the rescues. */
function workLine({ branch, topic, state, work }: HandoffShape): string {
  if (work === null || state !== 'open') return '';
  const { paths, bytes } = work;
  const size = paths === null || bytes === null ? '' : `: ${workSizeText({ paths, bytes })}`;
  return `carries uncommitted work${size}: git handoff unpack ${shellWord(`${branch}/${topic}`)}\n`;
}

function renderLost(items: readonly LostShape[], now: number): Rendered {
  if (items.length === 0) return 'no text was kept for this topic\n';
  return columns(
    items.map((item) => [
      String(item.number),
      item.session === null ? '-' : ownerName(item.session),
      age(item, now),
      escapeLine(item.reason),
    ]),
  );
}

/**
 * Prints a line for each note. Unless `isAll`, automatic notes share a line if they are many. `isNarrowed`: only some
 * notes were asked for, so an empty list does not mean that there are none.
 */
export function renderList(
  { branch, items: listed, looksDone, remotes }: ListValue,
  view: TextContext,
  { isNarrowed, isAll }: { readonly isNarrowed: boolean; readonly isAll: boolean },
): Rendered {
  const { now } = view;
  if (listed.length === 0 && isNarrowed) return 'no matching handoffs (all: git handoff list --all)\n';
  const waiting = remoteLines(remotes, view.isAtTerminal);
  if (listed.length === 0) {
    const what = isAll ? ['', ''] : ['open ', ' (closed ones: git handoff list --all)'];
    return `no ${what[0]}handoffs; leave one: git handoff write <topic> -m '<text>'${what[1]}\n${waiting}`;
  }
  const automatic = listed.filter((item) => item.automatic !== null);
  const isMany = !isAll && automatic.length > MAX_AUTOMATIC;
  const items = isMany ? listed.filter((item) => item.automatic === null) : listed;
  const here = items.filter((item) => item.branch === branch);
  const others = items.filter((item) => item.branch !== branch);
  const rows = (some: readonly ListedShape[]) =>
    columns(
      some.map((item) => [
        name(item),
        remarks(item, remotes.length > 1),
        ownerText(item),
        age(item, now),
        escapeLine(item.summary),
      ]),
    );
  const groups = [here, others].filter((some) => some.length > 0).map(rows);
  const summed = isMany
    ? [
        `${automatic.length} sessions ended with uncommitted work: git handoff list --all, git handoff status\n`,
      ]
    : [];
  return [...groups, ...summed, ...doneLine(looksDone), ...(waiting === '' ? [] : [waiting])].join('\n');
}

const REMARKS: Readonly<Record<NonNullable<ListedShape['staleness']>, string>> = {
  merged: 'merged: close it?',
  'branch-deleted': 'branch gone',
  'branch-renamed': 'branch renamed',
};

function remark({ state, staleness }: ListedShape): string {
  if (state !== 'open') return state;
  return staleness === null ? '' : REMARKS[staleness];
}

/** Returns remarks on a note: its state, its work, and the remotes that are not in sync (by name if there are several). */
function remarks(item: ListedShape, named: boolean): string {
  const apart = item.remotes.flatMap((relation) => {
    const text = relationText(relation);
    return text === '' ? [] : [named ? `${text} (${escapeLine(relation.remote)})` : text];
  });
  const work = item.work === null || item.state !== 'open' ? '' : 'with work';
  return [remark(item), work, ...apart].filter((text) => text !== '').join(', ');
}

function relationText({ state, ahead, behind }: RemoteRelation): string {
  if (state === 'ahead') return `ahead ${ahead}`;
  if (state === 'behind') return `behind ${behind}`;
  if (state === 'diverged') return `diverged ${ahead}/${behind}`;
  if (state === 'local-only') return 'not pushed';
  return state === 'unknown' ? 'differs' : '';
}

function doneLine([first, ...more]: readonly string[]): string[] {
  if (first === undefined) return [];
  return [
    more.length === 0 ? `1 looks done: ${first}\n` : `${more.length + 1} look done, the first: ${first}\n`,
  ];
}

/** Prints a line for each version. */
export function renderLog({ items }: LogValue, { now, paint }: TextContext): Rendered {
  const newest = new Map(items.map((item) => [item.owner, item] as const).reverse());
  return columns(
    items.map((item) => [
      paint.mark(item.oid.slice(0, 12)),
      ownerText(item),
      step(item, newest),
      age(item, now),
      escapeLine(item.summary),
    ]),
  );
}

/** Tells what a version did. Takes a former owner's client from that owner's newest version. */
function step(item: VersionShape, newest: ReadonlyMap<string, VersionShape>): string {
  const allowed = item.secretAllowed.length === 0 ? '' : ', secret allowed';
  const { takenFrom } = item;
  const unknown = { owner: takenFrom ?? '', ownerName: null, client: null };
  const from = takenFrom === null ? '' : ` from ${ownerText(newest.get(takenFrom) ?? unknown)}`;
  return `${item.step}${from}${allowed}`;
}

/** Prints a unified diff: two versions with object name, owner and time, then the hunks. */
export function renderDiff({ from, to, diff }: NoteDiffValue, { now }: TextContext): Rendered {
  const version = (item: HandoffShape) =>
    `${name(item)}  ${item.oid.slice(0, 12)}  ${ownerText(item)}  ${age(item, now)}`;
  if (diff === '') return `${version(to)}: the note is the same\n`;
  const text = escapeText(diff);
  return `--- ${from === null ? 'nothing' : version(from)}\n+++ ${version(to)}\n${text.endsWith('\n') ? text : `${text}\n`}`;
}
