import type { Context } from '../../sessions/caller.ts';
import { Failure } from '../../domain/messages.ts';
import { type Arguments, flag } from '../options.ts';
import { type Interaction, type Answer, type VerbTable, answer } from '../verb.ts';

export const CHECK_VERBS: VerbTable = {
  check: {
    usage: 'check [<range>]',
    group: 'sharing',
    summary: 'find commits that mix sessions, and notes moved by hand',
    words: [0, 3],
    options: {
      stdin: flag("in a server's pre-receive hook: judge the push on standard input"),
      update: flag("in a server's update hook: judge one ref of the push"),
    },
    examples: [
      ['git handoff check', 'what is not pushed yet'],
      ['git handoff check origin/main..HEAD', 'in CI'],
      ['git handoff check --stdin', 'in pre-receive; see git-hooks/server-pre-receive'],
    ],
    async run(args, context, interaction) {
      if (args.flag('stdin') || args.flag('update')) return checkPush(args, context, interaction);
      if (args.words.length > 1) throw wrongWords();
      const { checkCommits, renderCheck } = await import('./check.ts');
      const result = await checkCommits(args.words[0], context);
      return answer(result, () => Promise.resolve(renderCheck));
    },
  },
};

async function checkPush(args: Arguments, context: Context, { read }: Interaction): Promise<Answer> {
  const isUpdate = args.flag('update');
  if (isUpdate === args.flag('stdin') || args.words.length !== (isUpdate ? 3 : 0)) throw wrongWords();
  const [{ parseReceivedRefs, receivedRef }, { checkPushed, renderPushed }] = await Promise.all([
    import('../../git/push-range.ts'),
    import('./check.ts'),
  ]);
  const [ref = '', old = '', next = ''] = args.words;
  const refs = isUpdate
    ? [receivedRef(ref, old, next)]
    : parseReceivedRefs(Buffer.from(await read('-')).toString('utf8'));
  const result = await checkPushed(refs, context);
  return answer(result, () => Promise.resolve(renderPushed));
}

const wrongWords = () =>
  new Failure('usage', 'check takes one range, or --stdin, or --update <ref> <old> <new>', {
    hint: 'git handoff check -h',
  });
