/**
 * Starts a program that nobody waits for, with a text on its standard input; `false` if it cannot be started. The program
 * gets its own process session, so that a client that kills our process group does not kill it, too.
 */
export function startInBackground(program: string, text: string, env: NodeJS.ProcessEnv): boolean {
  const child = process.getBuiltinModule('node:child_process').spawn(program, [], {
    cwd: '/',
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  // This writes at once what fits into the pipe, so that the program can read it after we have ended.
  child.stdin.end(text);
  child.unref();
  return child.pid !== undefined;
}
