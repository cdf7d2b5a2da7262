import { lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { escapeLine, Failure, shellWord } from '../../domain/messages.ts';
import type { Context } from '../../sessions/caller.ts';
import { type Interaction, type Answer, type VerbTable, answer, word } from '../verb.ts';
import { type Arguments, EXPECT, type OptionTable, flag, option } from '../options.ts';
import { anchored, PATHSPEC_OPTIONS, readPathspecs } from '../pathspecs.ts';
import { ack, changeState, take } from './change-state.ts';
import { list } from './list.ts';
import { log } from './log.ts';
import {
  renderAck,
  renderList,
  renderLog,
  renderShown,
  renderState,
  renderTaken,
  renderWritten,
} from './notes-text.ts';
import { show } from './show.ts';
import { write } from './write.ts';

const TAKE_AND_EXPECT: OptionTable = {
  take: flag('first take the note over; with close, only a person may'),
  expect: EXPECT,
};

/** The verbs that read and write notes. People type these verbs most: they need only the bundle cli.cjs (scripts/build.mjs). */
export const NOTE_VERBS: VerbTable = {
  write: {
    usage: 'write [<branch>/]<topic> [--with-work [-- <pathspec>...]]',
    group: 'notes',
    summary: 'leave a note, or a new version of yours',
    details: 'The note comes from -m, --file, stdin, or the editor.',
    words: [1, Infinity],
    options: {
      message: option('<text>', 'the note; several texts become paragraphs', { alias: 'm', array: true }),
      file: option('<file>', 'read the note from a file (- for stdin)', { alias: 'F' }),
      take: flag('become the owner if another session owns the topic'),
      expect: EXPECT,
      to: option('<operator>', 'address the note to this operator, in its front matter (me: yourself)'),
      tag: option('<tag>', 'a tag in its front matter', { array: true }),
      reference: option('<ref>', 'a reference in its front matter: an issue, a commit, a file', {
        array: true,
      }),
      'allow-secret': flag('write it although it looks like it contains a secret; the commit records this'),
      'with-work': flag('add your uncommitted changes, for git handoff unpack; they stay on this machine'),
      ...PATHSPEC_OPTIONS,
    },
    examples: [
      [
        "git handoff write auth-refresh -m 'token refresh works; the retry test is still red'",
        'on this branch',
      ],
      ['git handoff write main/auth-refresh < note.md', 'for another branch, from stdin'],
      [
        "git handoff write auth-refresh -m 'half done' --with-work",
        'with your uncommitted changes; git handoff sync --push --with-work sends them',
      ],
    ],
    async run(args, context, interaction) {
      const withWork = await workWords(args, interaction);
      const topic = word(args);
      const note = await interaction.note({ messages: args.texts('message'), file: args.text('file') });
      const options = {
        topic,
        note,
        address: { to: args.text('to'), tags: args.texts('tag'), references: args.texts('reference') },
        take: args.flag('take'),
        expect: args.text('expect'),
        allowSecret: args.flag('allow-secret'),
        withWork,
        session: args.text('session'),
      };
      return answer(await write(options, context), async () => renderWritten);
    },
  },
  show: {
    usage: 'show [[<branch>/]<topic>]',
    group: 'notes',
    summary: 'print a note',
    details: 'Without a topic: the newest open note of this branch.',
    words: [0, 1],
    options: {
      raw: flag("only the note's bytes, unescaped"),
      at: option('<oid>', 'the note as it was at that commit'),
      lost: option('[=<n>]', 'list the texts kept when a write was refused, or print one', {
        optionalValue: true,
      }),
    },
    examples: [
      ['git handoff show', 'what the last session left on this branch'],
      ['git handoff show auth-refresh --lost=1', 'a text whose write was refused'],
    ],
    async run(args, context) {
      const options = {
        topic: args.words[0],
        raw: args.flag('raw'),
        at: args.text('at'),
        lost: parseLost(args.text('lost')),
        reading: args.flag('json'),
        session: args.text('session'),
      };
      return answer(await show(options, context), async () => renderShown);
    },
  },
  list: {
    usage: 'list',
    group: 'notes',
    summary: "list open notes, this branch's first",
    words: [0, 0],
    options: {
      all: flag('closed ones too', { alias: 'a' }),
      state: option('open|closed', 'only open or only closed notes'),
      unread: flag('only what you have neither written nor acknowledged'),
      to: option('<operator>', 'only notes to this operator (me: to you)'),
    },
    examples: [['git handoff list --all --json', 'everything, for a program']],
    async run(args, context) {
      const options = {
        all: args.flag('all'),
        state: parseState(args.text('state')),
        unread: args.flag('unread'),
        to: args.text('to'),
        reading: args.flag('json') || args.flag('unread') || args.text('to') === 'me',
        session: args.text('session'),
      };
      const view = { isNarrowed: options.unread || options.to !== undefined, isAll: options.all };
      return answer(
        await list(options, context),
        async () => (value, context) => renderList(value, context, view),
      );
    },
  },
  log: {
    usage: 'log [-p] [[<branch>/]<topic>] [<a> [<b>]]',
    group: 'notes',
    summary: 'show who wrote, took and closed a note, and when',
    details: 'With -p: the last change of the text, or what changed since version <a>, or from <a> to <b>.',
    words: [0, 3],
    options: { patch: flag('show what changed in the text', { alias: 'p' }) },
    examples: [
      ['git handoff log main/auth-refresh', 'its whole history'],
      ['git handoff log -p auth-refresh', 'what the last writer changed'],
    ],
    async run(args, context) {
      const [topic, ...versions] = args.words;
      const session = args.text('session');
      if (args.flag('patch')) {
        const { diffNotes } = await import('./log.ts');
        const result = await diffNotes({ topic, versions, session }, context);
        return answer(result, async () => (await import('./notes-text.ts')).renderDiff);
      }
      if (versions.length > 0)
        throw new Failure('usage', 'log takes versions only with -p', {
          hint: `git handoff log -p ${args.words.map(shellWord).join(' ')}`,
        });
      return answer(
        await log({ topic, reading: args.flag('json'), session }, context),
        async () => renderLog,
      );
    },
  },
  ack: {
    usage: 'ack [<branch>/]<topic>',
    group: 'notes',
    summary: 'mark a note as read, until it changes',
    words: [1, 1],
    options: { expect: EXPECT },
    examples: [['git handoff ack main/auth-refresh', 'then list --unread leaves it out']],
    async run(args, context) {
      return answer(await ack(noteOptions(args), context), async () => renderAck);
    },
  },
  take: {
    usage: 'take [[<branch>/]<topic>] [-- <path>...]',
    group: 'notes',
    summary: 'become the owner of a note or of uncommitted changes',
    details: 'The take is recorded, and the other session is told.',
    words: [0, Infinity],
    options: { expect: EXPECT, ...PATHSPEC_OPTIONS },
    examples: [
      ['git handoff take main/auth-refresh', 'then write it: git handoff write main/auth-refresh'],
      ['git handoff take -- src/login.ts', 'that change becomes yours to commit; its session is told'],
    ],
    async run(args, context, interaction) {
      const isList = args.text('pathspec-from-file') !== undefined;
      if (args.afterDashes.length > 0 || isList) return takePathsAnswer(args, context, interaction);
      if (args.words.length !== 1) throw oneTopic(pathsHint(args.words, context));
      const taken = await take(noteOptions(args), context).catch((error: unknown) => {
        throw withHint(error, pathsHint(args.words, context));
      });
      return answer(taken, async () => renderTaken);
    },
  },
  close: {
    usage: 'close [<branch>/]<topic>',
    group: 'notes',
    summary: 'mark a note as done',
    details: 'Its history stays.',
    words: [1, 1],
    options: TAKE_AND_EXPECT,
    examples: [['git handoff close auth-refresh', 'the work is done']],
    run: (args, context) => changedAnswer('closed', args, context),
  },
  reopen: {
    usage: 'reopen [<branch>/]<topic>',
    group: 'notes',
    summary: 'reopen a note that was closed',
    words: [1, 1],
    options: TAKE_AND_EXPECT,
    examples: [['git handoff reopen auth-refresh', 'it was not done after all']],
    run: (args, context) => changedAnswer('open', args, context),
  },
};

/** Returns the pathspecs of `write --with-work`: it takes one topic, and pathspecs after `--`. */
async function workWords(
  args: Arguments,
  interaction: Interaction,
): Promise<{ pathspecs: readonly string[] } | undefined> {
  const isCarrying = args.flag('with-work');
  const topics = args.words.length - (isCarrying ? args.afterDashes.length : 0);
  if (topics !== 1) {
    const extra = escapeLine(args.words[1] ?? '');
    const message = isCarrying
      ? 'write takes one topic, then -- and the paths of the work'
      : `write takes one topic, and not ${extra}; paths are for --with-work`;
    throw new Failure('usage', message, { hint: 'git handoff write -h' });
  }
  if (!isCarrying && args.text('pathspec-from-file') !== undefined)
    throw new Failure('usage', '--pathspec-from-file is for --with-work', { hint: 'git handoff write -h' });
  return isCarrying ? { pathspecs: await readPathspecs(args, interaction, args.afterDashes) } : undefined;
}

async function takePathsAnswer(args: Arguments, context: Context, interaction: Interaction): Promise<Answer> {
  if (args.words.length > args.afterDashes.length) throw oneTopic();
  const paths = await readPathspecs(args, interaction);
  if (args.text('expect') !== undefined) {
    throw new Failure('usage', '--expect is for notes, not for paths', { hint: 'git handoff take -h' });
  }
  const { takePaths } = await import('../sharing/take-paths.ts');
  const options = { paths, session: args.text('session') };
  const result = await anchored(context, () => takePaths(options, context));
  return answer(result, async () => (await import('../sharing/status-text.ts')).renderTakenPaths);
}

function oneTopic(hint = 'git handoff take -h'): Failure {
  const message = 'take needs one topic, or else paths after --';
  return new Failure('usage', message, { hint });
}

/** Returns a hint for words that name files: they were probably meant as paths. */
function pathsHint(words: readonly string[], { cwd }: Context): string | undefined {
  const areFiles = words.every(
    (one) => lstatSync(resolve(cwd, one), { throwIfNoEntry: false }) !== undefined,
  );
  return words.length > 0 && areFiles ? `git handoff take -- ${words.map(shellWord).join(' ')}` : undefined;
}

/** Replaces the hint of a failure that reports a missing note, if there is a better hint. */
function withHint(error: unknown, hint: string | undefined): unknown {
  const isUnknown = error instanceof Failure && ['usage', 'not-found'].includes(error.code);
  return isUnknown && hint !== undefined ? new Failure(error.code, error.message, { hint }) : error;
}

/** Parses `--lost`, which lists the texts, and `--lost=<n>`, which prints one. */
function parseLost(text: string | undefined): boolean | number {
  if (text === undefined) return false;
  if (text === '') return true;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Failure('usage', '--lost takes a number', { hint: 'git handoff show <topic> --lost' });
}

function parseState(text: string | undefined): 'open' | 'closed' | undefined {
  if (text === undefined || text === 'open' || text === 'closed') return text;
  throw new Failure('usage', '--state takes open or closed', { hint: 'git handoff list --state open' });
}

const noteOptions = (args: Arguments) => ({
  topic: word(args),
  take: args.flag('take'),
  expect: args.text('expect'),
  session: args.text('session'),
});

async function changedAnswer(state: 'open' | 'closed', args: Arguments, context: Context): Promise<Answer> {
  return answer(await changeState(noteOptions(args), state, context), async () => renderState);
}
