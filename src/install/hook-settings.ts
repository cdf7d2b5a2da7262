/**
 * The part of a client's settings that lists its hooks: `hooks.<event>[] = {matcher?, hooks: [handler]}`, or without
 * the groups, `hooks.<event>[] = {...handler, matcher?}`.
 * Everything here is pure; texts are binary strings (see json-text.ts).
 */
import {
  type JsonNode,
  appendItems,
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

/** One registration: the handler runs at each such event, or only at those of the tools that the matcher names. */
export interface HookEntry {
  readonly event: string;
  readonly matcher?: string;
  readonly handler: Readonly<Record<string, string | number | boolean>>;
  /** Whether the client lists handlers directly under an event, not in groups (`{ matcher, hooks }`). */
  readonly flat?: true;
}

/** Whether a command is ours. */
export type CommandTest = (command: string) => boolean;

/** What a client's settings may hold besides hooks. */
interface SettingsFormat {
  /** The `"version"` that the client requires; settings that have one keep it. */
  readonly version?: number;
  /** Whether the client reads JSON with comments. */
  readonly comments?: true;
}

/** The settings cannot be edited safely; the message says why. */
export class SettingsError extends Error {}

/**
 * The text with our entries in it, each exactly once, and with all other bytes as they were.
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
  if (isBlank(text)) return newSettings(text, entries, version);
  const root = scanRoot(text, format);
  if (version === undefined || memberOf(root, 'version') !== undefined) {
    return insertHooks(text, entries, isOurs, format);
  }
  const versioned = appendItems(text, root, 1, [`"version": ${version}`], styleOf(text, root));
  return insertHooks(versioned, entries, isOurs, format);
}

function insertHooks(
  text: string,
  entries: readonly HookEntry[],
  isOurs: CommandTest,
  format: SettingsFormat,
): string {
  if (hooksAreCurrent(text, entries, isOurs, format)) return text;
  const base = unregisterHooks(text, isOurs, format);
  const root = scanRoot(base, format);
  const style = styleOf(base, root);
  const hooks = memberOf(root, 'hooks')?.value;
  if (hooks === undefined) {
    const body = '"hooks": ' + renderJson(groupsByEvent(entries), 1, style);
    return appendItems(base, root, 1, [body], style);
  }
  if (hooks.kind !== 'object') throw new SettingsError('"hooks" is not an object');
  const missing = entries.filter((entry) => memberOf(hooks, entry.event) === undefined);
  let result = base;
  for (const entry of entries.filter((candidate) => !missing.includes(candidate))) {
    result = appendGroup(result, entry, format);
  }
  if (missing.length === 0) return result;
  const bodies = missing.map((entry) => `"${entry.event}": ` + renderJson([groupOf(entry)], 2, style));
  return appendItems(result, hooksNode(result, format), 2, bodies, style);
}

/**
 * The text without our entries; lists and objects that this leaves empty go too.
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

/**
 * Whether one of our entries is registered for an event.
 *
 * @throws SettingsError when the text is not JSON
 */
export function hasHooks(text: string, event: string, isOurs: CommandTest, format: SettingsFormat): boolean {
  return (
    !isBlank(text) &&
    ourGroups(text, scanRoot(text, format), isOurs).some((one) => one.startsWith(`${event} `))
  );
}

function groupOf(entry: HookEntry): object {
  if (entry.flat === true) {
    return { ...entry.handler, ...(entry.matcher === undefined ? {} : { matcher: entry.matcher }) };
  }
  const hooks = [entry.handler];
  return entry.matcher === undefined ? { hooks } : { matcher: entry.matcher, hooks };
}

function groupsByEvent(entries: readonly HookEntry[]): Record<string, object[]> {
  return Object.fromEntries(entries.map((entry) => [entry.event, [groupOf(entry)]]));
}

/** A file without content keeps its byte order mark and its kind of line ending. */
function newSettings(base: string, entries: readonly HookEntry[], version: number | undefined): string {
  const style = styleOf(base, undefined);
  const head = version === undefined ? {} : { version };
  const body = renderJson({ ...head, hooks: groupsByEvent(entries) }, 0, style);
  return base.slice(0, contentStart(base)) + body + style.eol;
}

function appendGroup(text: string, entry: HookEntry, format: SettingsFormat): string {
  const list = memberOf(hooksNode(text, format), entry.event)?.value;
  if (list?.kind !== 'array') throw new SettingsError(`"hooks.${entry.event}" is not a list`);
  const style = styleOf(text, scanRoot(text, format));
  return appendItems(text, list, 3, [renderJson(groupOf(entry), 3, style)], style);
}

function hooksNode(text: string, format: SettingsFormat): JsonNode {
  const hooks = memberOf(scanRoot(text, format), 'hooks')?.value;
  if (hooks?.kind !== 'object') throw new SettingsError('"hooks" is not an object');
  return hooks;
}

function scanRoot(text: string, { comments }: SettingsFormat): JsonNode {
  const plain = comments === true ? withoutComments(text) : text;
  try {
    jsonValue(plain);
  } catch (error) {
    throw new SettingsError(`not valid JSON (${(error as Error).message})`);
  }
  const root = scanJson(plain);
  if (root.kind !== 'object') throw new SettingsError('not a JSON object');
  return root;
}

interface Place {
  readonly container: JsonNode;
  readonly index: number;
}

/** The path from `hooks` down to each handler of ours. */
function* ourPlaces(text: string, root: JsonNode, isOurs: CommandTest): Generator<Place[]> {
  for (const [hooksAt, hooks] of root.items.entries()) {
    if (hooks.key !== 'hooks') continue;
    for (const [eventAt, event] of hooks.value.items.entries()) {
      for (const [groupAt, group] of event.value.items.entries()) {
        const place = [
          { container: root, index: hooksAt },
          { container: hooks.value, index: eventAt },
          { container: event.value, index: groupAt },
        ];
        if (isOurs(commandOf(text, group.value))) yield place;
        const handlers = memberOf(group.value, 'hooks')?.value;
        for (const [handlerAt, handler] of (handlers?.items ?? []).entries()) {
          if (handlers === undefined || !isOurs(commandOf(text, handler.value))) continue;
          yield [...place, { container: handlers, index: handlerAt }];
        }
      }
    }
  }
}

/** Copilot CLI has a key for each shell: `bash` holds the command for a POSIX shell. */
function commandOf(text: string, handler: JsonNode): string {
  const command = (memberOf(handler, 'command') ?? memberOf(handler, 'bash'))?.value;
  if (command === undefined || text[command.start] !== '"') return '';
  return JSON.parse(text.slice(command.start, command.end)) as string;
}

/** Our first handler, or the outermost item around it that holds nothing else. */
function findOurs(text: string, root: JsonNode, isOurs: CommandTest): Place | undefined {
  for (const path of ourPlaces(text, root, isOurs)) {
    const alone = path.findLastIndex((place) => place.container.items.length > 1);
    return path[Math.max(alone, 0)];
  }
  return undefined;
}

/** `<event> <group as compact JSON>` for each handler of ours. */
function ourGroups(text: string, root: JsonNode, isOurs: CommandTest): string[] {
  return [...ourPlaces(text, root, isOurs)].map(([, event, group]) => {
    const node = group?.container.items[group.index]?.value;
    const name = event?.container.items[event.index]?.key ?? '';
    const value: unknown =
      node === undefined ? null : JSON.parse(withoutComments(text.slice(node.start, node.end)));
    return `${name} ${JSON.stringify(value)}`;
  });
}
