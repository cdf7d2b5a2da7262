import { ownerName } from '../../../domain/names.ts';
import type { BoardCommit, BoardRefusal, BoardTopic, BoardVersion } from '../shape.ts';
import {
  type Child,
  button,
  el,
  command,
  glyph,
  note,
  sessionButton,
  sessionButtons,
  sessionName,
  stateOf,
  styled,
  workText,
} from './dom.ts';
import { diffLines, withContext } from './line-diff.ts';
import { KIND_NAMES, STEP_NAMES, nameOf, versionItem } from './model.ts';
import { eventList } from './tables.ts';
import { duration, full, short } from './time.ts';
import type { Shown, Stage } from './view.ts';

export interface Detail {
  readonly title: string;
  readonly body: readonly Child[];
}

export function detailOf(stage: Stage, shown: Shown): Detail {
  if ('session' in shown) return sessionDetail(stage, shown.session);
  const { items } = shown;
  const [first, ...more] = items;
  if (first === undefined || more.length > 0)
    return { title: `${items.length} events`, body: [eventList(stage, items, false)] };
  const { subject } = first;
  switch (subject.kind) {
    case 'version':
      return versionDetail(stage, subject.topic, subject.version);
    case 'commit':
      return commitDetail(stage, subject.commit);
    case 'refusal':
      return refusalDetail(stage, subject.refusal);
  }
}

type Fact = readonly [name: string, value: Child];

const factList = (facts: readonly Fact[]): HTMLElement =>
  el(
    'dl',
    {},
    ...facts.flatMap(([name, value]) =>
      value === undefined ? [] : [el('dt', {}, name), el('dd', {}, value)],
    ),
  );

function sessionDetail(stage: Stage, index: number): Detail {
  const { board, lanes } = stage.model;
  const session = board.sessions[index];
  if (session === undefined) return { title: 'Session', body: [] };
  const { id, state, from, to, client, branch, worktree } = session;
  const other = (name: string, key: string): Child => {
    const at = board.sessions.findIndex((one) => one.id === name);
    return at < 0 ? name : sessionButton(stage, at, key);
  };
  const end = state === 'live' ? undefined : `${full(to)} (${duration(to - from)})`;
  const list = factList([
    ['Id', client === 'person' ? undefined : styled('id', id)],
    ['State', stateOf(session)],
    ['Client', client],
    ['Branch', branch],
    ['Worktree', worktree],
    ['Began', full(from)],
    [state === 'ended' ? 'Ended' : 'Last seen', end],
    ['Started in', session.parent === undefined ? undefined : other(session.parent, 'dp')],
    ['Uncommitted', workText(session) || undefined],
    ['Carries on', session.succeeds === undefined ? undefined : other(session.succeeds, 'ds')],
  ]);
  return {
    title: sessionName(session),
    body: [
      list,
      ...(session.work ?? []).map((one) => command(one.command)),
      el('h3', {}, 'What it did'),
      eventList(stage, lanes[index] ?? [], true),
    ],
  };
}

function commitDetail(stage: Stage, { oid, at, by, branch, subject }: BoardCommit): Detail {
  const list = factList([
    ['Commit', styled('id', oid)],
    ['By', sessionButtons(stage, by, 'dc')],
    ['Branch', branch],
    ['Time', full(at)],
  ]);
  return { title: subject || '(no subject)', body: [list, command(`git show ${oid.slice(0, 12)}`)] };
}

function refusalDetail(stage: Stage, { at, by, detail }: BoardRefusal): Detail {
  const list = factList([
    ['To', by === undefined ? 'a session that is not known' : sessionButton(stage, by, 'dr')],
    ['Time', full(at)],
  ]);
  return { title: 'Refused', body: [list, el('pre', {}, detail)] };
}

function versionDetail(stage: Stage, topic: BoardTopic, version: BoardVersion): Detail {
  const tip = topic.versions[0];
  const typed = topic.typed ?? nameOf(topic);
  const isTip = tip?.oid === version.oid;
  const { sessions } = stage.model.board;
  const from = version.takenFrom;
  const list = factList([
    ['Version', styled('id', version.oid.slice(0, 12), isTip ? ' (the newest)' : '')],
    ['Step', STEP_NAMES[version.step] + (from === undefined ? '' : `, from ${ownerName(from)}`)],
    ['By', version.by === undefined ? undefined : sessionButton(stage, version.by, 'dv')],
    ['For', version.to],
    ['Carries', version.work],
    ['Time', full(version.at)],
    ['Left', version.automatic === undefined ? undefined : `by git-handoff (${version.automatic})`],
    ['State', tip?.closed === true ? 'closed' : 'open'],
  ]);
  const shown = el('div', { class: 'text' });
  const older = topic.versions.slice(topic.versions.indexOf(version) + 1);
  const base = el('select', { id: 'base' }, el('option', { value: '' }, 'the whole note'));
  for (const one of older) {
    const by = one.by === undefined ? '' : ` by ${sessionName(sessions[one.by])}`;
    base.append(
      el('option', { value: one.oid }, `changes since ${one.oid.slice(0, 8)}, ${short(one.at)}${by}`),
    );
  }
  const draw = () => shown.replaceChildren(...text(stage, version.oid, base.value, typed));
  base.addEventListener('change', draw);
  draw();
  return {
    title: nameOf(topic),
    body: [
      list,
      el('p', { class: 'row' }, el('label', { for: 'base' }, 'Show'), base),
      shown,
      el('h3', {}, 'Versions'),
      versionList(stage, topic, version),
      el('h3', {}, 'In a terminal'),
      command(`git handoff show ${typed}${isTip ? '' : ` --at ${version.oid.slice(0, 12)}`}`),
      command(`git handoff log ${typed}`),
    ],
  };
}

function text(stage: Stage, oid: string, base: string, typed: string): HTMLElement[] {
  const { notes } = stage.model.board;
  const textOf = (version: string) => (Object.hasOwn(notes, version) ? notes[version] : undefined);
  const [now, before] = [textOf(oid), base === '' ? undefined : textOf(base)];
  if (now === undefined || (base !== '' && before === undefined)) {
    const shown =
      base === ''
        ? `show ${typed} --at ${oid.slice(0, 12)}`
        : `log -p ${typed} ${base.slice(0, 12)} ${oid.slice(0, 12)}`;
    return [note('This text is not in the page. To read it:'), command(`git handoff ${shown}`)];
  }
  if (before === undefined) return [el('pre', {}, now)];
  const lines = withContext(diffLines(before, now));
  if (lines.length === 0) return [note('The texts are the same.')];
  const names = { ' ': 'same', '+': 'added', '-': 'removed' };
  const rows = lines.map((line) =>
    line === undefined ? styled('gap', '⋯\n') : styled(names[line.sign], `${line.sign} ${line.text}\n`),
  );
  return [el('pre', { class: 'diff' }, ...rows)];
}

const MAX_LISTED = 100;

function versionList(stage: Stage, topic: BoardTopic, current: BoardVersion): HTMLElement {
  const rows = topic.versions.slice(0, MAX_LISTED).map((version) => {
    const { oid, step, at, by, summary } = version;
    const item = versionItem(topic, version);
    const { kind } = item;
    const who = by === undefined ? '' : ` by ${sessionName(stage.model.board.sessions[by])}`;
    const isCurrent = oid === current.oid ? 'true' : undefined;
    const attributes = {
      class: 'link',
      'aria-current': isCurrent,
      title: `${KIND_NAMES[kind]}, ${full(at)}`,
    };
    const show = () => stage.show({ items: [item] });
    const text = `${short(at)} ${STEP_NAMES[step]}${who}: ${summary}`;
    return el('li', {}, button(`dl${oid}`, show, attributes, styled(`k-${kind}`, glyph(kind)), text));
  });
  const more = topic.versions.length - MAX_LISTED;
  if (more > 0) rows.push(el('li', {}, `and ${more} older ones`));
  return el('ol', { class: 'versions' }, ...rows);
}
