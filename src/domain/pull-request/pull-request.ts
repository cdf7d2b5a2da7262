import { shortId } from '../names.ts';
import { escapeForAgent } from '../note/agent-text.ts';
import { splitNote } from '../note/document.ts';
import { noteSections } from '../note/sections.ts';
import { escapeLine } from '../surfacing.ts';

/** What the description of a pull request is made from. */
interface BranchWork {
  readonly branch: string;
  /** The lines of the message of each of its own commits, merges left out, oldest first. */
  readonly messages: readonly string[];
  /** The notes of the branch: open ones, then closed ones, each newest first. */
  readonly notes: readonly { readonly text: string; readonly isOpen: boolean }[];
  /** Sessions whose ids must not appear. */
  readonly sessions: readonly string[];
}

/** The description of a pull request. */
export interface PullRequest {
  readonly title: string;
  readonly body: string;
  /** What neither a note nor a commit says. */
  readonly lacks: readonly string[];
}

/** Words of the body. With the four headings these are at most 400. */
const WORDS = { what: 150, why: 90, tests: 70, open: 70 };
const MAX_TITLE = 100;
/** A longer goal is cut after its first clause. */
const GOOD_TITLE = 72;

/** Describes the work on a branch for its reviewers: what, why, how it was tested, what is open. */
export function describeWork(work: BranchWork): PullRequest {
  const told = (text: string) => withoutSessions(escapeForAgent(text), work.sessions);
  const subjects = work.messages.map((message) => shortened(escapeLine(told(subjectOf(message))).trim()));
  const notes = work.notes.map(({ text, isOpen }) => {
    const sections = noteSections(told(splitNote(text).body));
    return { ...sections, isOpen };
  });
  const goals = notes.flatMap(({ goal }) => goal ?? []);
  const [only, ...others] = work.messages;
  const bodies = only === undefined || others.length > 0 ? [] : [told(bodyOf(only))];
  const tested = notes.flatMap(({ tests, state }) => tests ?? saidOfTests(state ?? ''));
  const next = notes.flatMap(({ isOpen, nextAction }) =>
    isOpen && !NOTHING.test(nextAction ?? '') ? (nextAction ?? []) : [],
  );
  const why = section('Why', goals.length > 0 ? goals : bodies, WORDS.why);
  const tests = section('How it was tested', tested, WORDS.tests);
  const parts = [whatSection(subjects), why, tests, section('What is open', next, WORDS.open)];
  return {
    title: titleOf(subjects, goals, work.branch),
    body: parts.filter((part) => part !== '').join('\n'),
    lacks: [...(why === '' ? ['why'] : []), ...(tests === '' ? ['how it was tested'] : [])],
  };
}

function subjectOf(message: string): string {
  return message.trimStart().split('\n', 1)[0] ?? '';
}

const TRAILER = /^[A-Za-z][A-Za-z0-9-]*:\s|^\s/;

/** The body of a message, without its trailers. */
function bodyOf(message: string): string {
  const [, ...paragraphs] = message.trim().split(/\n{2,}/);
  const last = paragraphs.at(-1)?.split('\n') ?? [];
  if (last.every((line) => TRAILER.test(line))) paragraphs.pop();
  return paragraphs.join('\n\n');
}

/** Removes session ids, recorded or not, and lines that hold nothing else. */
const ANY_SESSION =
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\bses_\w{20,40}\b|\bsession_\w{16,40}\b|\bperson-[0-9a-f]{8}\b/gi;
const SESSION_LINE = /^[ \t]*(?:Claude-Session|Handoff-)[\w-]*[ \t]*:.*$/gim;

function withoutSessions(text: string, sessions: readonly string[]): string {
  let left = text.replace(SESSION_LINE, '').replace(ANY_SESSION, '…');
  for (const id of sessions) {
    // A word may mean something else.
    const short = [shortId(id), id.slice(0, 8)].filter((name) => /\d|^[a-f]{8}$/.test(name));
    for (const name of [id, ...short]) left = left.replaceAll(name, '…');
  }
  return left;
}

/** `fixup!` and its like will become part of another commit. */
const FIXUP = /^(?:fixup|squash|amend)! /;
/** `- and 12 more commits` */
const MORE_WORDS = 5;

function whatSection(subjects: readonly string[]): string {
  const told = subjects.filter((subject) => subject !== '' && !FIXUP.test(subject));
  const items = [...new Set(told)].map((subject): Block => ({ kind: 'item', text: `- ${asText(subject)}` }));
  const kept = cutBlocks(items, WORDS.what - MORE_WORDS).filter((item) => items.includes(item));
  const more = items.length - kept.length;
  if (more > 0) kept.push({ kind: 'item', text: `- and ${more} more commit${more === 1 ? '' : 's'}` });
  return framed('What', kept);
}

/** Escapes a subject: it is plain text, whatever it begins with. */
function asText(subject: string): string {
  return subject.replace(/^(\d{0,9})([-+*#>=|~[.)])/, '$1\\$2');
}

function section(title: string, texts: readonly string[], words: number): string {
  const found = [...new Set(texts)].map(blocksOf);
  const isList =
    found.length > 1 && found.every(([first, ...rest]) => first?.kind === 'text' && rest.length === 0);
  const blocks = found
    .flat()
    .map((block): Block => (isList ? { kind: 'item', text: `- ${block.text}` } : block));
  return blocks.length === 0 ? '' : framed(title, cutBlocks(blocks, words));
}

function framed(title: string, blocks: readonly Block[]): string {
  return blocks.length === 0 ? '' : `## ${title}\n\n${textOfBlocks(blocks)}\n`;
}

/** Introduces the next action. */
const NOTHING = /^\W*(?:none|nothing|n\/a)\W*$/i;

const OF_TESTS = /\b(?:tests?|tested|testing|verified)\b/i;

/** The sentences about tests in a note's state. */
function saidOfTests(state: string): string[] {
  return blocksOf(state)
    .filter(({ kind }) => kind !== 'code')
    .flatMap(({ text }) => text.replace(/^\s*[-*+]\s+/, '').split(/(?<=[.!?])\s+/))
    .filter((sentence) => OF_TESTS.test(sentence))
    .map((sentence) => sentence.replace(/^(?:tests?|testing|tested):\s+/i, ''));
}

function titleOf(
  [first = '', ...others]: readonly string[],
  goals: readonly string[],
  branch: string,
): string {
  if (others.length === 0 && first !== '') return first;
  const goal = blocksOf(goals[0] ?? '').find(({ kind }) => kind !== 'code')?.text ?? '';
  const plain = goal.replace(/^\s*[-*+]\s+/, '').replaceAll('**', '');
  const [whole = ''] = plain.split(/[.!?](?:\s|$)/, 1);
  const [sentence = ''] = whole.length > GOOD_TITLE ? whole.split(/[:;,] /, 1) : [whole];
  const words = branch
    .slice(branch.lastIndexOf('/') + 1)
    .replace(/[-_]+/g, ' ')
    .trim();
  return shortened(escapeLine(sentence.trim() || words.charAt(0).toUpperCase() + words.slice(1)));
}

/** Cuts a line to the length of a title, between words if possible. */
function shortened(text: string): string {
  const characters = Array.from(text.slice(0, 2 * (MAX_TITLE + 1)));
  if (characters.length <= MAX_TITLE) return text;
  const beginning = characters.slice(0, MAX_TITLE - 1).join('');
  return `${beginning.replace(/(?<=\S)\s+\S*$/, '')}…`;
}

/** A paragraph, a list item or a code block of a Markdown text. All but code is one line. */
interface Block {
  readonly kind: 'text' | 'item' | 'code';
  readonly text: string;
}

const FENCE = /^\s{0,12}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}(?=[ \t]|$)/;
/** A rule, or the underline of a heading. */
const RULE = /^ {0,3}(?:=+|-+|(?:[-*_][ \t]*){3,})$/;
const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)]|>|\|)(?:\s|$)/;

/**
 * Splits a Markdown text into blocks and joins the lines of each paragraph: git hosts show every line break. Headings become
 * bold lines, to stay below ours; rules are dropped.
 */
function blocksOf(text: string): Block[] {
  const blocks: { kind: Block['kind']; text: string }[] = [];
  let open: { kind: Block['kind']; text: string } | undefined;
  let fence: string | undefined;
  const begin = (kind: Block['kind'], line: string) => blocks.push((open = { kind, text: line }));
  for (const line of text.split(/\r\n|\n|\r/)) {
    const marks = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      if (open !== undefined) open.text += `\n${line}`;
      if (marks?.startsWith(fence) === true && line.trim() === marks) open = fence = undefined;
    } else if (marks !== undefined) {
      begin('code', line);
      fence = marks;
    } else if (line.trim() === '' || RULE.test(line)) open = undefined;
    else if (HEADING.test(line)) {
      const title = line.replace(HEADING, '').replaceAll('*', '').trim();
      if (title !== '') begin('text', `**${title}**`);
      open = undefined;
    } else if (ITEM.test(line) || open === undefined)
      begin(ITEM.test(line) ? 'item' : 'text', line.trimEnd());
    else open.text += ` ${line.trim()}`;
  }
  const last = blocks.at(-1);
  if (fence !== undefined && last !== undefined) last.text += `\n${fence}`;
  return blocks;
}

/** Blocks as a Markdown text again. */
function textOfBlocks(blocks: readonly Block[]): string {
  return blocks
    .map(({ kind, text }, at) => {
      const shown = kind === 'code' ? text : harmless(text);
      const before = blocks[at - 1]?.kind;
      return before === undefined ? shown : `${before === 'item' && kind === 'item' ? '\n' : '\n\n'}${shown}`;
    })
    .join('');
}

/** Disarms mentions, which would notify people, and tags, which could hide what follows. Code is left alone. */
function harmless(text: string): string {
  // Git hosts differ in how such backticks pair.
  const parts = /``|\\`/.test(text) ? [text] : text.split(/(`[^`]*`)/);
  return parts
    .map((part, at) =>
      at % 2 === 1
        ? part
        : part
            .replaceAll('<', '&lt;')
            .replace(/(?<![\w`/])@[A-Za-z0-9][\w-]{0,99}(?:\/[\w.-]{1,100})?/g, (name) => `\`${name}\``),
    )
    .join('');
}

/** The length of a text in words; a script without spaces counts by its characters. */
function wordsIn(text: string): number {
  return Math.max(text.split(/\s+/).filter(Boolean).length, Math.ceil(text.length / 12));
}

/** The blocks that fit into so many words, with the beginning of the first one that does not. */
function cutBlocks(blocks: readonly Block[], words: number): Block[] {
  const kept: Block[] = [];
  let room = words;
  for (const block of blocks) {
    const cost = wordsIn(block.text);
    if (cost > room) {
      const beginning = block.kind === 'code' ? '' : beginningOf(block.text, room - 1);
      return [...kept, { kind: block.kind === 'code' ? 'text' : block.kind, text: `${beginning}…` }];
    }
    room -= cost;
    kept.push(block);
  }
  return kept;
}

function beginningOf(text: string, words: number): string {
  let beginning = '';
  for (const word of text.split(/(?<=\s)/)) {
    if (wordsIn(beginning + word) > words) break;
    beginning += word;
  }
  return beginning === ''
    ? Array.from(text.slice(0, Math.max(words, 0) * 12))
        .slice(0, -1)
        .join('')
    : beginning;
}
