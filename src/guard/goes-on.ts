import type { Scene } from './scene.ts';

/** A single `&` that ends a command, and programs that let others go on by themselves. */
const BACKGROUND = /(?:^|[^&|<>\\])&(?![&>\d])|\b(?:nohup|setsid|disown|daemonize|tmux|screen)\b/;
const QUOTED = /'[^']*'|"(?:[^"\\]|\\[^])*"/g;
/** What stands in quotes may be a command all the same. */
const CHILD_SHELL = /\b(?:[a-z]*sh|eval)\b/;

/** Whether programs that the shell command starts may run on when the call is over. In doubt they do not. */
export function goesOn({ event: { tool } }: Scene): boolean {
  if (tool?.kind !== 'shell') return false;
  const { command, inBackground } = tool;
  const text = CHILD_SHELL.test(command) ? command : command.replace(QUOTED, '');
  return inBackground === true || BACKGROUND.test(text);
}
