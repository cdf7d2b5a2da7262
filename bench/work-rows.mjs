// Rows of the work that a note carries: 1,000 changed files go into it and come back, as they do with git's stash.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILES = 1000;

/** A person's repository in which all of these files are changed. */
function changed(scenario) {
  const root = scenario.enabled('work', 0);
  const write = (text) => {
    for (let n = 0; n < FILES; n += 1) writeFileSync(join(root, 'many', `${n}.ts`), `${text} ${n}\n`);
  };
  mkdirSync(join(root, 'many'));
  write('before');
  scenario.commitAll(root);
  write('after');
  return root;
}

export function workRows(scenario) {
  const row = {
    name: `write --with-work and unpack, ${FILES} files`,
    unit: '× git stash push and pop',
    target: 5,
    commands: () => {
      const at = { cwd: changed(scenario), env: scenario.env };
      const shell = (script) => ({ command: 'sh', args: ['-ec', script, scenario.launcher], ...at });
      return {
        git: shell('git stash push -q; git stash pop -q'),
        // The stash makes the tree clean, too.
        work: shell('"$0" write half-done -m x --with-work; git reset -q --hard; "$0" unpack half-done'),
      };
    },
    figure: (times) => times.work / times.git,
  };
  return [row];
}
