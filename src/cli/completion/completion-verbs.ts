import { Failure } from '../../domain/failure.ts';
import { type VerbTable, answer, word } from '../../verbs/verb.ts';

/** The verb that tells a shell how to complete all verbs: it is handed their table, which holds it. */
export const completionVerbs = (verbs: () => VerbTable): VerbTable => ({
  completion: {
    usage: 'completion <shell>',
    group: 'setup',
    summary: 'print completion for bash, zsh or fish',
    details: 'The manual says where each shell looks for it.',
    words: [1, 1],
    options: {},
    examples: [
      ['git handoff completion fish > ~/.config/fish/completions/git-handoff.fish', 'fish finds it there'],
      ['git handoff completion zsh > ~/.zfunc/_git-handoff', 'where ~/.zfunc is in $fpath'],
    ],
    async run(args) {
      const { completionScript } = await import('./script.ts');
      const shell = word(args);
      const script = completionScript(shell, verbs());
      if (script === undefined) {
        throw new Failure(
          'usage',
          `there is completion for bash, zsh and fish, not ${JSON.stringify(shell)}`,
          {
            hint: 'git handoff completion bash',
          },
        );
      }
      return answer({ value: { shell, script }, bytes: Buffer.from(script) }, () =>
        Promise.resolve(({ script: text }) => text),
      );
    },
  },
});
