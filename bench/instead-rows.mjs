// What a user would have instead: the same calls, answered by the processes that others start for them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bareNode, once } from './measure.mjs';
import { registered, session, toolCall } from './scenario.mjs';

/** A hook in Node that only reads its payload: nobody who decides in Node can be faster. */
const PLAIN = `import { readFileSync } from 'node:fs';
JSON.parse(readFileSync(0, 'utf8'));
`;

/**
 * Stands in for claude-handoff-guard's PreToolUse hook: the same process, and the same look at the call. Its own code
 * reads a note's first line where a path is a note's; a file of the project is not.
 */
const GUARD = `import { readFileSync } from 'node:fs';
const { tool_name, tool_input = {} } = JSON.parse(readFileSync(0, 'utf8'));
const notes = /\\/projects\\/[^/]+\\/memory\\/(handoff-[a-z0-9-]+\\.md)$/;
if (tool_name === 'Write' && notes.test(tool_input.file_path)) process.exitCode = 1;
`;

/** Stands in for its pre-commit hook: Node, which asks git what is staged. */
const PRE_COMMIT = `import { execFileSync } from 'node:child_process';
const args = ['diff', '--cached', '--name-only', '--diff-filter=ACMR'];
const staged = execFileSync('git', args, { encoding: 'utf8' }).split('\\n');
if (staged.some((path) => /^projects\\/[^/]+\\/memory\\//.test(path))) process.exitCode = 1;
`;

const ratio = ({ theirs, node }) => theirs / node;

/** Figures of the others: no targets, and the rows of ours stand above under the same names. */
export function insteadRows(scenario) {
  const file = (name, text) => {
    const path = join(scenario.dir, name);
    writeFileSync(path, text);
    return path;
  };
  const root = once(() => scenario.repository('instead'));
  const edit = () => {
    const path = join(root(), 'src', 'a.ts');
    return toolCall(root(), 'Edit', { file_path: path, old_string: '1', new_string: '2' });
  };
  const hook = (name, text) => ({
    name: `instead: ${name}, file tool`,
    unit: '× node',
    commands: () => {
      const args = [file(`${name}.mjs`, text)];
      return {
        node: bareNode(scenario.env),
        theirs: { ...registered(scenario, root(), edit()), command: process.execPath, args },
      };
    },
    figure: ratio,
  });
  return [
    hook('a hook in Node that reads its payload', PLAIN),
    hook("claude-handoff-guard's hook", GUARD),
    {
      name: "instead: commit with claude-handoff-guard's pre-commit",
      unit: '× node more',
      commands: () => {
        const hooked = scenario.repository('instead, hooked');
        const script = file('pre-commit.mjs', PRE_COMMIT);
        const text = `#!/bin/sh\nexec '${process.execPath}' '${script}'\n`;
        writeFileSync(join(hooked, '.git', 'hooks', 'pre-commit'), text, { mode: 0o755 });
        const args = ['commit', '-q', '--allow-empty', '-m', 'fix: one thing'];
        const commit = (cwd) => ({
          command: 'git',
          args,
          cwd,
          env: { ...scenario.env, CLAUDE_CODE_SESSION_ID: session },
        });
        return { plain: commit(root()), node: bareNode(scenario.env), hooked: commit(hooked) };
      },
      figure: ({ hooked, plain, node }) => (hooked - plain) / node,
    },
  ];
}
