/** The exit status at the beginning of a failed command's output, for clients that do not report it separately. */
export function toldExit(output: string): number | undefined {
  const exit = /\bexit(?:ed with)? code:? (\d{1,9})\b/i.exec(output.slice(0, 400))?.[1];
  return exit === undefined ? undefined : Number(exit);
}
