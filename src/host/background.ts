/**
 * Starts a program that nobody waits for, with a text on its standard input; false where it cannot be started. It has a
 * session of its own, so that whoever ends our process group does not end it.
 */
export function startInBackground(program: string, text: string, env: NodeJS.ProcessEnv): boolean {
  const child = process.getBuiltinModule('node:child_process').spawn(program, [], {
    cwd: '/',
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    windowsHide: true,
  });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  // Written at once, as far as the pipe takes it: the program reads it when we are gone.
  child.stdin.end(text);
  child.unref();
  return child.pid !== undefined;
}
