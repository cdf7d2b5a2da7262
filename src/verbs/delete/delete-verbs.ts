import { escapeLine, Failure } from '../../domain/messages.ts';
import { parseAge } from '../../domain/settings.ts';
import { EXPECT, flag, option } from '../options.ts';
import { type VerbTable, answer } from '../verb.ts';

export const DELETE_VERBS: VerbTable = {
  delete: {
    usage: 'delete ([<branch>/]<topic> | --closed)',
    group: 'notes',
    summary: 'delete a note with its history, or closed ones',
    details:
      'First lists what it would delete. A session can delete only its own notes. For remotes, prints the command to type.',
    words: [0, 1],
    options: {
      closed: flag('delete closed notes instead of one note'),
      'older-than': option('<age>', 'with --closed: not changed for this long (30d, 2w, 12h)'),
      yes: flag('delete what is listed'),
      take: flag('as a person: delete the note even if its session is at work'),
      expect: EXPECT,
    },
    examples: [
      ['git handoff delete auth-refresh', 'list what it would delete, and the command that does it'],
      ['git handoff delete --closed --older-than 30d --yes', 'delete old closed notes'],
    ],
    async run(args, context) {
      const { deleteClosed, deleteNote, renderDeletedClosed, renderDeletedNote } =
        await import('./delete.ts');
      const [topic] = args.words;
      const [age, expect] = [args.text('older-than'), args.text('expect')];
      const options = { yes: args.flag('yes'), session: args.text('session') };
      if (args.flag('closed') && (topic ?? expect) === undefined && !args.flag('take')) {
        const closed = { ...options, age, olderThanMs: age === undefined ? 0 : ageOf(age) };
        return answer(await deleteClosed(closed, context), () => Promise.resolve(renderDeletedClosed));
      }
      if (args.flag('closed') || topic === undefined || age !== undefined)
        throw new Failure('usage', 'delete takes a topic, or --closed', { hint: 'git handoff delete -h' });
      const note = { ...options, topic, take: args.flag('take'), expect };
      return answer(await deleteNote(note, context), () => Promise.resolve(renderDeletedNote));
    },
  },
};

function ageOf(text: string): number {
  const age = parseAge(text);
  if (age !== undefined) return age;
  throw new Failure('usage', `not an age: ${escapeLine(JSON.stringify(text))}`, {
    hint: 'git handoff delete --closed --older-than 30d',
  });
}
