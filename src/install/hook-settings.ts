/**
 * The part of a client's settings that lists its hooks: `hooks.<event>[] = {matcher?, hooks: [handler]}`, or without the
 * groups, `hooks.<event>[] = {...handler, matcher?}`. Pure; texts are binary strings (see json-text.ts).
 */
import {
  type JsonNode,
  appendItem,
  contentStart,
  isBlank,
  jsonValue,
  memberOf,
  removeItem,
  renderJson,
  scanJson,
  styleOf,
  toBinary,
  withoutComments,
} from './json-text.ts';

/** A handler for an event. With a matcher, it runs only for the tools that the matcher names. */
export interface HookEntry {
  readonly event: string;
  readonly matcher?: string | undefined;
  readonly handler: Readonly<Record<string, string | number | boolean>>;
  /** Whether the client lists handlers directly under an event, not in groups (`{ matcher, hooks }`). */
  readonly flat?: true | undefined;
}

export type CommandTest = (command: string) => boolean;

interface SettingsFormat {
  /** The `"version"` that the client requires; settings that have one keep it. */
  readonly version?: number | undefined;
  /** Whether the client reads JSON with comments. */
  readonly comments?: true | undefined;
}

/** The settings cannot be edited safely; the message says why. */
export class SettingsError extends Error {}

/**
 * The text with our entries in it, each exactly once, and with all other bytes as they were. A text without content keeps
 * its byte order mark and its kind of line ending.
 *
 * @throws SettingsError when the text is not JSON or `hooks` has another shape
 */
export function registerHooks(
  text: string,
  entries: readonly HookEntry[],
  isOurs: CommandTest,
  format: SettingsFormat = {},
): string {
  const { version } = format;
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  let result = isBlank(text) ? `${text.slice(0, contentStart(text))}{}${eol}` : text;
  const root = scanRoot(result, format);
  if (version !== undefined && memberOf(root, 'version') === undefined)
    result = appendItem(result, root, 1, `"version": ${version}`, styleOf(result, root));
  if (hooksAreCurrent(result, entries, isOurs, format)) return result;
  result = unregisterHooks(result, isOurs, format);
  for (const entry of entries) result = withEntry(result, entry, format);
  return result;
}

function withEntry(text: string, entry: HookEntry, format: SettingsFormat): string {
  const { event } = entry;
  const root = scanRoot(text, format);
  const style = styleOf(text, root);
  const group = groupOf(entry);
  const hooks = memberOf(root, 'hooks')?.value;
  if (hooks === undefined)
    return appendItem(text, root, 1, `"hooks": ${renderJson({ [event]: [group] }, 1, style)}`, style);
  if (hooks.kind !== 'object') throw new SettingsError('"hooks" is not an object');
  const list = memberOf(hooks, event)?.value;
  if (list === undefined)
    return appendItem(text, hooks, 2, `"${event}": ${renderJson([group], 2, style)}`, style);
  if (list.kind !== 'array') throw new SettingsError(`"hooks.${event}" is not a list`);
  return appendItem(text, list, 3, renderJson(group, 3, style), style);
}

/**
 * The text without our entries; lists and objects that become empty are removed, too.
 *
 * @throws SettingsError when the text is not JSON
 */
export function unregisterHooks(text: string, isOurs: CommandTest, format: SettingsFormat = {}): string {
  if (isBlank(text)) return text;
  let result = text;
  for (;;) {
    const found = findOurs(result, scanRoot(result, format), isOurs);
    if (found === undefined) return result;
    result = removeItem(result, found.container, found.index);
  }
}

/** Whether the text holds our entries exactly as they would be written now, and no others of ours. */
export function hooksAreCurrent(
  text: string,
  entries: readonly HookEntry[],
  isOurs: CommandTest,
  format: SettingsFormat = {},
): boolean {
  if (isBlank(text)) return false;
  const present = ourGroups(text, scanRoot(text, format), isOurs).sort();
  const wanted = entries.map((entry) => toBinary(`${entry.event} ${JSON.stringify(groupOf(entry))}`)).sort();
  return present.length === wanted.length && present.every((group, at) => group === wanted[at]);
}

/** The entry as its list holds it; JSON leaves out a matcher that is `undefined`. */
function groupOf({ matcher, handler, flat }: HookEntry): object {
  return flat === true ? { ...handler, matcher } : { matcher, hooks: [handler] };
}

/**
 * The settings that a text holds; none if it is blank.
 *
 * @throws SettingsError when the text is not a JSON object
 */
export function jsonSettings(text: string, format: SettingsFormat): Readonly<Record<string, unknown>> {
  if (isBlank(text)) return {};
  let settings: unknown;
  try {
    settings = jsonValue(plainJson(text, format));
  } catch (error) {
    throw new SettingsError(`not valid JSON (${(error as Error).message})`);
  }
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings))
    throw new SettingsError('not a JSON object');
  return settings as Readonly<Record<string, unknown>>;
}

function scanRoot(text: string, format: SettingsFormat): JsonNode {
  jsonSettings(text, format);
  return scanJson(plainJson(text, format));
}

const plainJson = (text: string, { comments }: SettingsFormat): string =>
  comments === true ? withoutComments(text) : text;

/** The keys that hold a command line; Copilot CLI names the key after the shell. */
const COMMAND_KEYS: ReadonlySet<string> = new Set(['command', 'bash']);

/** The command lines in settings that start the guard, for any client, each with its event. */
export function guardHooks({
  hooks,
}: Readonly<Record<string, unknown>>): { event: string; command: string }[] {
  return Object.entries(hooks ?? {}).flatMap(([event, groups]) =>
    guardCommandsIn(groups).map((command) => ({ event, command })),
  );
}

function guardCommandsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (!COMMAND_KEYS.has(key) || typeof inner !== 'string') return guardCommandsIn(inner);
    const at = inner.indexOf('git-handoff');
    return at >= 0 && / guard\b/.test(inner.slice(at)) ? [inner] : [];
  });
}

interface Place {
  readonly container: JsonNode;
  readonly index: number;
}

/** `path` leads from `hooks` down to the handler. `group` is the handler's group or, without groups, the handler itself. */
interface OurHandler {
  readonly path: readonly Place[];
  readonly event: string | undefined;
  readonly group: JsonNode;
}

function* ourHandlers(text: string, root: JsonNode, isOurs: CommandTest): Generator<OurHandler> {
  for (const [hooksAt, { key, value: hooks }] of root.items.entries()) {
    if (key !== 'hooks') continue;
    for (const [eventAt, { key: event, value: groups }] of hooks.items.entries()) {
      for (const [groupAt, { value: group }] of groups.items.entries()) {
        const path = [
          { container: root, index: hooksAt },
          { container: hooks, index: eventAt },
          { container: groups, index: groupAt },
        ];
        if (isOurs(commandOf(text, group))) yield { path, event, group };
        const handlers = memberOf(group, 'hooks')?.value;
        if (handlers === undefined) continue;
        for (const [index, { value }] of handlers.items.entries())
          if (isOurs(commandOf(text, value)))
            yield { path: [...path, { container: handlers, index }], event, group };
      }
    }
  }
}

/** Copilot CLI's key is the shell's name: `bash` holds the command for a POSIX shell. */
function commandOf(text: string, handler: JsonNode): string {
  const command = (memberOf(handler, 'command') ?? memberOf(handler, 'bash'))?.value;
  if (command === undefined || text[command.start] !== '"') return '';
  return JSON.parse(text.slice(command.start, command.end)) as string;
}

/** Our first handler, or the outermost item around it that holds nothing else. */
function findOurs(text: string, root: JsonNode, isOurs: CommandTest): Place | undefined {
  for (const { path } of ourHandlers(text, root, isOurs)) {
    const alone = path.findLastIndex((place) => place.container.items.length > 1);
    return path[Math.max(alone, 0)];
  }
  return undefined;
}

/** `<event> <group as compact JSON>` for each handler of ours. */
function ourGroups(text: string, root: JsonNode, isOurs: CommandTest): string[] {
  return [...ourHandlers(text, root, isOurs)].map(({ event, group: { start, end } }) => {
    const value: unknown = JSON.parse(withoutComments(text.slice(start, end)));
    return `${event} ${JSON.stringify(value)}`;
  });
}
