/**
 * Starts a program that nobody waits for, with a text on its standard input; `false` if it cannot be started. It gets a
 * process session of its own, so that a client that ends our process group does not end it.
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
  // This writes at once what fits into the pipe: the program reads it when we are gone.
  child.stdin.end(text);
  child.unref();
  return child.pid !== undefined;
}
