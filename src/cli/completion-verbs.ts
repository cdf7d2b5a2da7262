import { Failure } from '../domain/messages.ts';
import { type VerbTable, answer, word } from '../verbs/verb.ts';

/** The verb `completion`. `verbs` is a function because the table of verbs contains this verb. */
export const completionVerbs = (verbs: () => VerbTable): VerbTable => ({
  completion: {
    usage: 'completion <shell>',
    group: 'setup',
    summary: 'print completion for bash, zsh or fish',
    details: 'The manual says where each shell looks for it.',
    words: [1, Infinity],
    options: {},
    examples: [
      ['git handoff completion fish > ~/.config/fish/completions/git-handoff.fish', 'fish finds it there'],
      ['git handoff completion zsh > ~/.zfunc/_git-handoff', 'if ~/.zfunc is in $fpath'],
    ],
    async run(args, { cwd }) {
      const { SCRIPTS, wordsToType } = await import('./completion.ts');
      const shell = word(args);
      const script = SCRIPTS.get(shell);
      if (script === undefined) {
        const message = `there is completion for bash, zsh and fish, not ${JSON.stringify(shell)}`;
        throw new Failure('usage', message, { hint: 'git handoff completion bash' });
      }
      const isAsking = args.afterDashes.length > 0;
      const text = isAsking ? await wordsToType(args.afterDashes, verbs(), cwd) : script;
      return answer({ value: { shell, script: text }, bytes: Buffer.from(text) }, () =>
        Promise.resolve((value) => value.script),
      );
    },
  },
});
