import { type Topic, parseTopic } from '../names.ts';

const MAX_TOPIC = 100;
const MAX_TRIES = 10_000;

/**
 * Names for the line of a topic that is set aside, in the order in which they are tried: `<topic>-2`, `<topic>-3` …
 * A line that was set aside before (`formerly` is what it was called then) is numbered on.
 */
export function* asideNames(topic: Topic, formerly: Topic | undefined): Generator<Topic> {
  const isNumbered = formerly !== undefined && topic.startsWith(formerly);
  const stem = isNumbered && /^-\d+$/.test(topic.slice(formerly.length)) ? formerly : topic;
  for (let number = 2; number < MAX_TRIES; number++) {
    const ending = `-${number}`;
    const name = parseTopic(`${stem.slice(0, MAX_TOPIC - ending.length).replace(/-$/, '')}${ending}`);
    if (name !== undefined && name !== topic) yield name;
  }
}
