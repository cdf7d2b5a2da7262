/** The exit status that a failed command's output begins with, where the client tells none. */
export function toldExit(output: string): number | undefined {
  const exit = /\bexit(?:ed with)? code:? (\d{1,9})\b/i.exec(output.slice(0, 400))?.[1];
  return exit === undefined ? undefined : Number(exit);
}
