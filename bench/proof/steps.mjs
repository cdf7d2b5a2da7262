/**
 * The steps of a scenario, as data. A worker is a session (`a`) or a sub-agent of one (`a/x`).
 *
 * @typedef {{
 *   who: string,
 *   act: 'write' | 'edit' | 'run' | 'commit' | 'note' | 'end' | 'crash' | 'stop' | 'start' | 'clear' | 'person',
 *   path?: string, text?: string, from?: string, to?: string, command?: string, message?: string, paths?: string[],
 *   topic?: string, harms?: boolean, whenRefused?: Step | Step[], adds?: string[], drops?: string[], removes?: string[], goesTo?: string,
 *   in?: 'primary'
 * }} Step
 *
 * Every step may have:
 *   harms        true: this call would lose or mix another's work, so refusing it is right
 *   whenRefused  what the worker does, instead or in addition, after a refusal; by default nothing
 *   adds, drops  for a command: lines that are its author's work once it has run, and lines that it undoes on purpose
 *   removes      for a command: lines of the first commit that it removes; removing them is work, too
 *   goesTo       for a command: the branch that it deliberately moves the worker to
 *   in           'primary': in the first checkout instead of the worker's own
 */

const step = (who, act) => (fields, more) => ({ who, act, ...fields, ...more });

/** What a worker can do in a scenario. */
export function worker(who) {
  const does = (act, fields, more) => step(who, act)(fields, more);
  return {
    /** The file tool writes a whole file. */
    writes: (path, text, more) => does('write', { path, text: `${text}\n` }, more),
    /** The file tool replaces a line in a file. */
    edits: (path, from, to, more) => does('edit', { path, from, to }, more),
    /** The shell tool runs a command. */
    runs: (command, more) => does('run', { command }, more),
    /** Commits these files of the worker's own, with the tool's command if the tool has one. */
    commits: (message, paths, more) => does('commit', { message, paths: [paths].flat() }, more),
    /** Leaves a handoff note, where and how the tool prescribes. */
    notes: (topic, text, more) => does('note', { topic, text }, more),
    /** The client begins; without this step, it has begun before the first step. */
    starts: () => does('start'),
    /** Its conversation is cleared: the client continues under another id. */
    clears: () => does('clear'),
    /** Its turn ends. */
    stops: () => does('stop'),
    /** The client ends, and says so. */
    ends: () => does('end'),
    /** The client is killed. */
    crashes: () => does('crash'),
  };
}

/** What a person types in a terminal, in the first checkout. It never counts as harmful or as refused. */
export const person = { runs: (command, more) => step('person', 'person')({ command }, more) };
