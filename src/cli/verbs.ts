import type { CommandResult, Context } from '../commands/context.ts';
import type { InstallResult } from '../commands/init.ts';
import type { Rendered } from '../ui/terminal.ts';
import { type Arguments, EXPECT, type OptionTable } from './options.ts';
import type { Interaction } from './interaction.ts';
import { parseClients, parseLost, parseScope, parseState } from './parse.ts';

/** A verb: what help says about it, and how its words become a call. */
export interface Verb {
  readonly usage: string;
  readonly summary: string;
  /** Least and most words after the verb. */
  readonly words: readonly [least: number, most: number];
  readonly options: OptionTable;
  readonly examples: readonly (readonly [command: string, gloss: string])[];
  run(args: Arguments, context: Context, interaction: Interaction): Promise<Answer>;
}

/** A command's result and the text that a terminal shows for it (made only when it is asked for). */
export interface Answer {
  readonly result: CommandResult<object>;
  readonly render: (now: number) => Promise<Rendered>;
}

function answer<T extends object>(
  result: CommandResult<T>,
  load: () => Promise<(value: T, now: number) => Rendered>,
): Answer {
  return { result, render: async (now) => (await load())(result.value, now) };
}

const word = (args: Arguments) => args.words[0] ?? '';

/** Every verb of the command line, in the order that help shows. */
export const VERBS: Readonly<Record<string, Verb>> = {
  write: {
    usage: 'write [<branch>/]<topic>',
    summary: 'leave a note: from -m, --file, stdin, or the editor',
    words: [1, 1],
    options: {
      message: {
        type: 'string',
        alias: 'm',
        array: true,
        value: '<text>',
        describe: 'the note; several become paragraphs',
      },
      file: {
        type: 'string',
        alias: 'F',
        value: '<file>',
        describe: 'read the note from a file (- for stdin)',
      },
      take: { type: 'boolean', describe: 'become the owner if another session owns the topic' },
      expect: EXPECT,
    },
    examples: [
      [
        "git handoff write auth-refresh -m 'token refresh works; the retry test is still red'",
        'on this branch',
      ],
      ['git handoff write main/auth-refresh < note.md', 'for another branch, from stdin'],
    ],
    async run(args, context, interaction) {
      const { write } = await import('../commands/write.ts');
      const topic = word(args);
      const note = interaction.note({ topic, messages: args.texts('message'), file: args.text('file') });
      const options = {
        topic,
        note,
        take: args.flag('take'),
        expect: args.text('expect'),
        session: args.text('session'),
      };
      return answer(
        await write(options, context),
        async () => (await import('../ui/handoffs.ts')).renderWritten,
      );
    },
  },
  show: {
    usage: 'show [[<branch>/]<topic>]',
    summary: 'print a note; the newest open one of this branch when none is named',
    words: [0, 1],
    options: {
      raw: { type: 'boolean', describe: "only the note's bytes, unescaped" },
      at: { type: 'string', value: '<oid>', describe: 'the note as it was at that commit' },
      lost: {
        type: 'string',
        optionalValue: true,
        value: '[=<n>]',
        describe: 'list the texts kept when a write was refused, or print one',
      },
    },
    examples: [
      ['git handoff show', 'what the last session left on this branch'],
      ['git handoff show auth-refresh --lost=1', 'a text that lost against another writer'],
    ],
    async run(args, context) {
      const { show } = await import('../commands/show.ts');
      const options = {
        topic: args.words[0],
        raw: args.flag('raw'),
        at: args.text('at'),
        lost: parseLost(args.text('lost')),
        session: args.text('session'),
      };
      return answer(
        await show(options, context),
        async () => (await import('../ui/handoffs.ts')).renderShown,
      );
    },
  },
  list: {
    usage: 'list',
    summary: "list handoffs, this branch's first",
    words: [0, 0],
    options: {
      all: { type: 'boolean', alias: 'a', describe: 'closed ones too' },
      state: { type: 'string', value: 'open|closed', describe: 'only those' },
    },
    examples: [['git handoff list --all --json', 'everything, for a program']],
    async run(args, context) {
      const { list } = await import('../commands/list.ts');
      const options = {
        all: args.flag('all'),
        state: parseState(args.text('state')),
        session: args.text('session'),
      };
      return answer(await list(options, context), async () => (await import('../ui/handoffs.ts')).renderList);
    },
  },
  log: {
    usage: 'log [[<branch>/]<topic>]',
    summary: 'the versions of a note: who, when, and who took it from whom',
    words: [0, 1],
    options: {},
    examples: [['git handoff log main/auth-refresh', 'its whole history']],
    async run(args, context) {
      const { log } = await import('../commands/log.ts');
      const result = await log({ topic: args.words[0] }, context);
      return answer(result, async () => (await import('../ui/handoffs.ts')).renderLog);
    },
  },
  take: {
    usage: 'take [<branch>/]<topic>',
    summary: "become a note's owner, on the record",
    words: [1, 1],
    options: { expect: EXPECT },
    examples: [['git handoff take main/auth-refresh', 'then write it: git handoff write main/auth-refresh']],
    async run(args, context) {
      const { take } = await import('../commands/take.ts');
      const options = { topic: word(args), expect: args.text('expect'), session: args.text('session') };
      return answer(
        await take(options, context),
        async () => (await import('../ui/handoffs.ts')).renderTaken,
      );
    },
  },
  close: {
    usage: 'close [<branch>/]<topic>',
    summary: 'mark a topic as done; its history stays',
    words: [1, 1],
    options: {
      take: { type: 'boolean', describe: 'become the owner first if another session owns it' },
      expect: EXPECT,
    },
    examples: [['git handoff close auth-refresh', 'the work is done']],
    async run(args, context) {
      const { close } = await import('../commands/close.ts');
      const options = {
        topic: word(args),
        take: args.flag('take'),
        expect: args.text('expect'),
        session: args.text('session'),
      };
      return answer(
        await close(options, context),
        async () => (await import('../ui/handoffs.ts')).renderClosed,
      );
    },
  },
  sessions: {
    usage: 'sessions',
    summary: 'who is at work in this repository and its worktrees',
    words: [0, 0],
    options: { all: { type: 'boolean', alias: 'a', describe: 'ended ones too' } },
    examples: [['git handoff sessions', 'live ones first']],
    async run(args, context) {
      const { sessions } = await import('../commands/sessions.ts');
      const result = await sessions({ all: args.flag('all'), session: args.text('session') }, context);
      return answer(result, async () => (await import('../ui/sessions.ts')).renderSessions);
    },
  },
  doctor: {
    usage: 'doctor',
    summary: 'check that hooks are reached, refs are sound and no lock is left',
    words: [0, 0],
    options: { fix: { type: 'boolean', describe: 'mend what can be mended without losing anything' } },
    examples: [['git handoff doctor --fix', 'put back what was moved by hand, remove stale locks']],
    async run(args, context) {
      const { doctor } = await import('../commands/doctor.ts');
      const result = await doctor({ fix: args.flag('fix') }, context);
      return answer(result, async () => (await import('../ui/doctor.ts')).renderDoctor);
    },
  },
  init: {
    usage: 'init',
    summary: 'switch git-handoff on in this repository; shows what it would change, then asks',
    words: [0, 0],
    options: {
      yes: { type: 'boolean', alias: 'y', describe: 'do not ask' },
      project: { type: 'boolean', describe: "register the client's hooks for everybody in the project" },
      local: { type: 'boolean', describe: 'register them for you in this project only' },
      client: {
        type: 'string',
        array: true,
        value: '<name>',
        describe: 'claude (if not told), codex, gemini, or all that are in use',
      },
    },
    examples: [
      ['git handoff init', 'see the plan and say yes'],
      ['git handoff init --yes --local', 'for you, here only'],
      ['git handoff init --client claude,codex', 'the hooks of both'],
    ],
    async run(args, _context, interaction) {
      const { init } = await import('../commands/init.ts');
      const options = { yes: args.flag('yes'), scope: parseScope(args), clients: parseClients(args) };
      const result = await init(options, await interaction.installContext());
      return answer(installAnswer(result), async () => (await import('../ui/install.ts')).renderInstall);
    },
  },
  uninstall: {
    usage: 'uninstall',
    summary: 'take back what init did, byte for byte; the notes stay',
    words: [0, 0],
    options: {
      yes: { type: 'boolean', alias: 'y', describe: 'do not ask' },
      user: {
        type: 'boolean',
        describe: 'remove the hooks of your settings even if other repositories use them',
      },
    },
    examples: [['git handoff uninstall', 'as if it had never been here']],
    async run(args, _context, interaction) {
      const { uninstall } = await import('../commands/uninstall.ts');
      const options = { yes: args.flag('yes'), user: args.flag('user') };
      const result = await uninstall(options, await interaction.installContext());
      return answer(installAnswer(result), async () => (await import('../ui/install.ts')).renderInstall);
    },
  },
};

function installAnswer(value: InstallResult): CommandResult<InstallResult> {
  return { value, notices: value.notices, exitCode: value.outcome === 'declined' ? 1 : 0 };
}
