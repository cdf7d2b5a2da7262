import { Failure } from '../../domain/messages.ts';
import { EXPORT_FORMATS, FORMATS } from '../../domain/formats/texts.ts';
import { type Arguments, flag, option } from '../options.ts';
import { type VerbTable, answer } from '../verb.ts';

export const EXCHANGE_VERBS: VerbTable = {
  import: {
    usage: 'import [<path>...]',
    group: 'notes',
    summary: 'read notes from files of other programs',
    details: 'From claude-handoff-guard, handover, structured handoffs, or plain Markdown.',
    words: [0, Infinity],
    options: {
      from: option('guard|handover|structured|markdown', 'the kind of files, if it cannot be detected'),
      'dry-run': flag("only show each note's new place and owner", { alias: 'n' }),
      branch: option('<branch>', 'put the notes on this branch'),
      topic: option('<topic>', 'the topic, for one file'),
      'allow-secret': flag('import notes that look like they contain a secret, too; the commits record this'),
    },
    examples: [
      ['git handoff import --dry-run', 'list what those programs left for this project'],
      ['git handoff import NOTES.md --topic auth-refresh', 'a note from anywhere'],
    ],
    async run(args, context) {
      const { importNotes, renderImported } = await import('./import.ts');
      const options = {
        paths: args.words,
        from: oneOf(args, 'from', FORMATS, 'git handoff import -h'),
        dryRun: args.flag('dry-run'),
        branch: args.text('branch'),
        topic: args.text('topic'),
        allowSecret: args.flag('allow-secret'),
        session: args.text('session'),
      };
      return answer(await importNotes(options, context), () => Promise.resolve(renderImported));
    },
  },
  export: {
    usage: 'export [[<branch>/]<topic>]',
    group: 'notes',
    summary: 'copy a note into a file',
    details: 'Or to standard output, for programs that only read files.',
    words: [0, 1],
    options: {
      output: option('<file>', 'write this file (-: standard output)', { alias: 'o' }),
      format: option('markdown|guard|handover', 'the format of the copy'),
      force: flag("replace any file but another session's handoff file", { alias: 'f' }),
    },
    examples: [
      ['git handoff export auth-refresh -o handover.md --format handover', 'for readers of handover.md'],
    ],
    async run(args, context) {
      const { exportNote, renderExported } = await import('./export.ts');
      const options = {
        topic: args.words[0],
        format: oneOf(args, 'format', EXPORT_FORMATS, 'git handoff export -h') ?? 'markdown',
        output: args.text('output'),
        force: args.flag('force'),
        session: args.text('session'),
      };
      return answer(await exportNote(options, context), () => Promise.resolve(renderExported));
    },
  },
};

function oneOf<T extends string>(
  args: Arguments,
  name: string,
  values: readonly T[],
  hint: string,
): T | undefined {
  const text = args.text(name);
  const value = values.find((one) => one === text);
  if (text === undefined || value !== undefined) return value;
  throw new Failure('usage', `--${name} is one of ${values.join(', ')}`, { hint });
}
