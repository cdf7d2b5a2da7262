import { Failure } from '../../domain/failure.ts';
import type { Context } from '../../sessions/caller.ts';
import type { Arguments } from '../options.ts';
import type { ImportShape } from '../shapes.ts';
import { type Answer, type VerbTable, answer } from '../verb.ts';

/** The verbs that bring notes in from other programs' files, and out into files. */
export const EXCHANGE_VERBS: VerbTable = {
  import: {
    usage: 'import [<path>...]',
    group: 'notes',
    summary: 'read notes from files of other programs',
    details: 'From claude-handoff-guard, handover, structured handoffs, or plain Markdown.',
    words: [0, Infinity],
    options: {
      from: {
        type: 'string',
        value: 'guard|handover|structured|markdown',
        describe: 'the kind of files, if it cannot be detected',
      },
      'dry-run': { type: 'boolean', alias: 'n', describe: 'only show what would go where, and as whose' },
      branch: { type: 'string', value: '<branch>', describe: 'put the notes on this branch' },
      topic: { type: 'string', value: '<topic>', describe: 'the topic, for one file' },
      'allow-secret': {
        type: 'boolean',
        describe: 'import notes that look like they contain a secret, too; the commits record this',
      },
    },
    examples: [
      ['git handoff import --dry-run', "what lies at the predecessors' places for this project"],
      ['git handoff import NOTES.md --topic auth-refresh', 'a note from anywhere'],
    ],
    async run(args, context, { show }) {
      const { importNotes } = await import('./import.ts');
      // The plan stands on the terminal before anything is written.
      const announce = async (plan: readonly ImportShape[]) =>
        show((await import('./exchange-text.ts')).renderPlan(plan));
      const options = {
        paths: args.words,
        from: await oneOf(args, 'from', async () => (await import('../../domain/formats/detect.ts')).FORMATS),
        dryRun: args.flag('dry-run'),
        branch: args.text('branch'),
        topic: args.text('topic'),
        allowSecret: args.flag('allow-secret'),
        session: args.text('session'),
        announce: args.flag('json') ? undefined : announce,
      };
      return answer(
        await importNotes(options, context),
        async () => (await import('./exchange-text.ts')).renderImported,
      );
    },
  },
  export: {
    usage: 'export [[<branch>/]<topic>]',
    group: 'notes',
    summary: 'copy a note into a file',
    details: 'Or to standard output, for programs that only read files.',
    words: [0, 1],
    options: {
      output: {
        type: 'string',
        alias: 'o',
        value: '<file>',
        describe: 'write this file (with --all: below this folder; -: standard output)',
      },
      format: { type: 'string', value: 'markdown|guard|handover|pr', describe: 'for whose readers' },
      title: { type: 'boolean', describe: 'with --format pr: the title and not the body' },
      raw: { type: 'boolean', describe: "only the note's bytes, without the line that says what it is" },
      all: { type: 'boolean', alias: 'a', describe: 'every open handoff, a file each' },
      force: {
        type: 'boolean',
        alias: 'f',
        describe: "replace any file but another session's handoff file",
      },
    },
    examples: [
      ['git handoff export auth-refresh -o handover.md --format handover', 'for readers of handover.md'],
      ['git handoff export --format pr', "what a pull request says, from this branch's notes and commits"],
    ],
    async run(args, context): Promise<Answer> {
      const formats = async () => (await import('../../domain/formats/detect.ts')).EXPORT_FORMATS;
      const format =
        (await oneOf(args, 'format', async () => [...(await formats()), 'pr' as const])) ?? 'markdown';
      if (format === 'pr') return pullRequest(args, context);
      if (args.flag('title')) throw notTogether('--title is for --format pr');
      const { exportNotes } = await import('./export.ts');
      const options = {
        topic: args.words[0],
        all: args.flag('all'),
        format,
        raw: args.flag('raw'),
        output: args.text('output'),
        force: args.flag('force'),
        session: args.text('session'),
      };
      return answer(
        await exportNotes(options, context),
        async () => (await import('./exchange-text.ts')).renderExported,
      );
    },
  },
};

async function pullRequest(args: Arguments, context: Context): Promise<Answer> {
  const isCopy = args.words.length > 0 || ['all', 'raw', 'force'].some((name) => args.flag(name));
  if (isCopy || (args.text('output') ?? '-') !== '-')
    throw notTogether(
      '--format pr describes this branch on standard output, and takes no option but --title',
    );
  const { exportPullRequest } = await import('./pull-request.ts');
  return answer(await exportPullRequest({ title: args.flag('title') }, context), () =>
    Promise.resolve(() => ''),
  );
}

function notTogether(message: string): Failure {
  return new Failure('usage', message, { hint: 'git handoff export -h' });
}

async function oneOf<T extends string>(
  args: Arguments,
  name: string,
  load: () => Promise<readonly T[]>,
): Promise<T | undefined> {
  const text = args.text(name);
  if (text === undefined) return undefined;
  const values = await load();
  const value = values.find((one) => one === text);
  if (value !== undefined) return value;
  const hint = name === 'from' ? 'git handoff import -h' : 'git handoff export -h';
  throw new Failure('usage', `--${name} is one of ${values.join(', ')}`, { hint });
}
