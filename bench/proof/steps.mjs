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
 * Every step may say:
 *   harms        true: this call would lose or mix another's work, so a refusal of it is right
 *   whenRefused  what the worker does instead, or in addition, when it was refused; by default nothing
 *   adds, drops  of a command: lines that are its author's work when it has run, and such that it takes back on purpose
 *   removes      of a command: lines of the first commit that it takes out, which is work, too
 *   goesTo       of a command: the branch to which the worker goes by it, on purpose
 *   in           'primary': not in the worker's own checkout, but in the first one
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
    /** Commits these files of its own, by the tool's own command where there is one. */
    commits: (message, paths, more) => does('commit', { message, paths: [paths].flat() }, more),
    /** Leaves a handoff note, where and how the tool has it. */
    notes: (topic, text, more) => does('note', { topic, text }, more),
    /** The client begins; without such a step it has begun before the first one. */
    starts: () => does('start'),
    /** Its conversation is cleared: the client goes on under another id. */
    clears: () => does('clear'),
    /** Its turn ends. */
    stops: () => does('stop'),
    /** The client ends, and says so. */
    ends: () => does('end'),
    /** The client is killed. */
    crashes: () => does('crash'),
  };
}

/** What a person types in a terminal, in the first checkout. It is nobody's harm to judge, and never counted as refused. */
export const person = { runs: (command, more) => step('person', 'person')({ command }, more) };
