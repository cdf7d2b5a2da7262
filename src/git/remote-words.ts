/**
 * Why a remote could not be asked, in git's own words: its `fatal:` line, or what ssh or the server said before it where
 * that line says only that there was nothing to read.
 */
export function remoteWords(stderr: string): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => !PROGRESS.test(line));
  const fatal = lines.findIndex((line) => line.startsWith('fatal: '));
  const said = fatal < 0 ? lines.find((line) => /^(?:error|remote|ssh): /.test(line)) : lines[fatal];
  const before = lines.slice(0, Math.max(fatal, 0)).filter((line) => line !== '');
  const isEmpty = said?.startsWith('fatal: Could not read from remote repository') === true;
  const cause = isEmpty ? (before.at(-1) ?? said) : said;
  return (cause ?? lines.find((line) => line !== '') ?? '').replace(/^fatal: /, '');
}

/** How far git is, or the server's git. */
const PROGRESS = /^(?:remote: )?[A-Z][\w ]+: +\d+(?:%|, done|$)|^remote: Total \d/;
