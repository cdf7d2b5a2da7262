import { escapeLine, Failure } from '../../domain/messages.ts';
import { type Interaction, answer, type VerbTable } from '../verb.ts';
import { type Arguments, flag, option } from '../options.ts';
import { anchored, PATHSPEC_OPTIONS, readPathspecs } from '../pathspecs.ts';
import type { CommitShape } from '../shapes.ts';
import type { StageValue } from './stage.ts';
import { shortOid } from '../../domain/names.ts';
import { type Rendered, columns } from '../../ui/terminal.ts';

export const COMMIT_VERBS: VerbTable = {
  commit: {
    usage: 'commit [-- <pathspec>...]',
    group: 'sharing',
    summary: "commit your own changes and nobody else's",
    words: [0, Infinity],
    options: {
      message: option('<text>', 'the message; several texts become paragraphs', { alias: 'm', array: true }),
      file: option('<file>', 'read the message from a file (- for stdin)', { alias: 'F' }),
      amend: flag("replace this session's own last commit"),
      'no-edit': flag('with --amend: keep the message'),
      'no-verify': flag('skip the hooks pre-commit and commit-msg', { alias: 'n' }),
      'allow-empty': flag('commit even if nothing changes'),
      signoff: flag('add a Signed-off-by trailer', { alias: 's' }),
      'gpg-sign': flag('sign the commit', { alias: 'S' }),
      author: option('<author>', 'as for git commit'),
      date: option('<date>', 'as for git commit'),
      trailer: option('<trailer>', 'as for git commit', { array: true }),
      fixup: option('<commit>', 'as for git commit'),
      'reuse-message': option('<commit>', 'as for git commit', { alias: 'C' }),
      ...PATHSPEC_OPTIONS,
    },
    examples: [
      ["git handoff commit -m 'Refresh tokens'", 'everything that this session changed'],
      ["git handoff commit -m 'Refresh tokens' -- src/auth", 'only below src/auth; naming a path claims it'],
    ],
    async run(args, context, interaction) {
      const { commit } = await import('./commit.ts');
      const options = {
        messages: args.texts('message'),
        text: await messageText(args, interaction),
        words: passedWords(args),
        pathspecs: await readPathspecs(args, interaction),
        session: args.text('session'),
        pass: interaction.pass,
        isAtTerminal: interaction.ask !== undefined,
      };
      const result = await anchored(context, () => commit(options, context));
      return answer(result, () => Promise.resolve(renderCommit));
    },
  },
  stage: {
    usage: 'stage --mine [<pathspec>...]',
    group: 'sharing',
    summary: 'stage your own changes',
    details: 'If another session changed a file, too, stages only your hunks of it.',
    words: [0, Infinity],
    options: {
      mine: flag('this session’s changes (required)'),
      ...PATHSPEC_OPTIONS,
    },
    examples: [['git handoff stage --mine shared.md', 'then: git commit']],
    async run(args, context, interaction) {
      const { stage } = await import('./stage.ts');
      const pathspecs = await readPathspecs(args, interaction);
      const options = { mine: args.flag('mine'), pathspecs, session: args.text('session') };
      return answer(await anchored(context, () => stage(options, context)), () =>
        Promise.resolve(renderStaged),
      );
    },
  },
};

const FLAGS = ['amend', 'no-edit', 'no-verify', 'allow-empty', 'signoff', 'gpg-sign'];

function passedWords(args: Arguments): string[] {
  const values = ['author', 'date', 'fixup', 'reuse-message'].map((name) => [name, args.text(name)] as const);
  const trailers = args.texts('trailer').map((value) => ['trailer', value] as const);
  return [
    ...FLAGS.filter((name) => args.flag(name)).map((name) => `--${name}`),
    ...[...values, ...trailers].flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}=${value}`],
    ),
  ];
}

/** The message of `-F`, read before anything else happens. */
async function messageText(args: Arguments, { read }: Interaction): Promise<Uint8Array | undefined> {
  const file = args.text('file');
  if (file === undefined) return undefined;
  if (args.texts('message').length > 0) {
    throw new Failure('usage', '-m and -F exclude each other', { hint: 'git handoff commit -h' });
  }
  return read(file);
}

function renderCommit({ commit, paths }: CommitShape): Rendered {
  const head = `committed ${shortOid(commit)}${paths.length === 0 ? ', which changes no path' : ':'}`;
  return [head, ...paths.map((path) => `  ${escapeLine(path)}`), ''].join('\n');
}

function renderStaged({ items }: StageValue): Rendered {
  return columns(items.map(({ path, hunks }) => [hunks ? 'your hunks' : 'whole', escapeLine(path)]));
}
