import type { SecretScan } from './secrets.ts';
import { escapeLine } from './surfacing.ts';

/** The program's git-config(1) settings; every one is documented in docs/git-handoff.1. */
export interface Settings {
  /** `undefined`: `init` never ran here, so only marker files are guarded. */
  readonly enabled: boolean | undefined;
  readonly marker: 'rewrite' | 'handshake';
  /** Further shell patterns of files guarded like the predecessors' handoff files. */
  readonly guardPath: readonly string[];
  readonly trailer: 'id' | 'short' | 'off';
  /** Whether a session's commits name its client and model (`Assisted-by`). */
  readonly assistedBy: boolean;
  /** What happens when a session edits a path that another live session has changed. */
  readonly contention: 'deny' | 'warn' | 'off';
  /** Whether a sub-agent's changes are its own while it runs (`agents`), or its session's at once. */
  readonly subAgents: 'agents' | 'session';
  /** `amend`: no session may rewrite another live session's commit; `strict`: nor use a tool while HEAD is such a commit. */
  readonly headCheck: 'amend' | 'strict' | 'off';
  /** What happens to a push that includes commits of other live sessions. */
  readonly pushForeign: 'warn' | 'deny' | 'allow';
  /** Whether to refuse a session's push that drops others' commits from a branch at the remote. */
  readonly pushLease: boolean;
  /** How long a silent session counts as live when its process cannot be seen. Milliseconds. */
  readonly staleAfterMs: number;
  /** Whether git-handoff leaves a note for a session that left none. */
  readonly automaticNotes: boolean;
  /** How much each worktree keeps of what destructive commands would lose. */
  readonly rescue: RescueLimits;
  /** The operator that reads and writes here, as typed; the name is checked where it is used. */
  readonly operator: string | undefined;
  /** Where remotes and servers that take no refs under `refs/handoffs/` keep handoffs; ends with a slash, not checked. */
  readonly remotePrefix: string;
  /** Whether a note may only name operators that OPERATORS.md knows. */
  readonly verifyOperators: boolean;
  /** What happens to a note that seems to hold a secret, when it is written and when it would leave this machine. */
  readonly secretScan: SecretScan;
  /** The most uncommitted work that a note may carry: bytes of all its contents. */
  readonly maxWork: number;
  /** Ignored dependencies that `try` links: names, or paths from the top. */
  readonly tryLinks: readonly string[];
  /** Invalid values; the default applies instead. */
  readonly unknown: readonly UnknownValue[];
}

/** An invalid value of a setting. */
export interface UnknownValue {
  /** As git lists it, in lower case. */
  readonly key: string;
  readonly value: string;
  /** The valid values, in words. */
  readonly known: string;
}

export interface RescueLimits {
  readonly maxCount: number;
  readonly maxAgeMs: number;
  /** Bytes of all files together. */
  readonly maxBytes: number;
}

export const DEFAULT_SETTINGS: Settings = {
  enabled: undefined,
  marker: 'rewrite',
  guardPath: [],
  trailer: 'id',
  assistedBy: false,
  contention: 'deny',
  subAgents: 'agents',
  headCheck: 'amend',
  pushForeign: 'warn',
  pushLease: true,
  staleAfterMs: 30 * 60 * 1000,
  automaticNotes: true,
  rescue: { maxCount: 50, maxAgeMs: 14 * 86_400_000, maxBytes: 200 * 1024 * 1024 },
  operator: undefined,
  remotePrefix: 'refs/handoffs/',
  verifyOperators: false,
  secretScan: 'deny',
  maxWork: 20 * 1024 * 1024,
  tryLinks: ['node_modules', '.venv', 'vendor'],
  unknown: [],
};

const UNITS: Readonly<Record<string, number>> = { m: 60e3, h: 3600e3, d: 86400e3, w: 7 * 86400e3 };

/** Reads an age such as `30m`, `12h`, `30d` or `2w`; milliseconds. */
export function parseAge(text: string): number | undefined {
  const match = /^(\d{1,6})([mhdw])$/.exec(text.trim());
  const unit = UNITS[match?.[2] ?? ''];
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}

const SIZES: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** Reads a size as git-config(1) writes integers: `512k`, `200m`, `1g`; bytes. */
function parseSize(text: string): number | undefined {
  const match = /^(\d{1,9})([kmg]?)$/i.exec(text.trim());
  const unit = SIZES[(match?.[2] ?? '').toLowerCase()];
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}

/** Builds the settings from `key value` pairs as git lists them; the last value of a key wins. */
export function parseSettings(entries: readonly SettingEntry[]): Settings {
  const unknown: UnknownValue[] = [];
  const all = (key: string) =>
    entries.filter(([name]) => name.toLowerCase() === key).map(([, value]) => value);
  const last = (key: string) => all(key).at(-1);
  const read = <T>(key: string, parse: (value: string | undefined) => T | undefined, known: string) => {
    const values = all(key);
    if (values.length === 0) return undefined;
    const value = parse(values.at(-1));
    if (value === undefined) unknown.push({ key, value: values.at(-1) ?? '', known });
    return value;
  };
  const oneOf = <T extends string>(key: string, values: readonly T[]) =>
    read(key, (given) => values.find((value) => value === given?.toLowerCase()), values.join(', '));
  const texts = (key: string) => all(key).flatMap((value) => value || []);
  const flag = (key: string) => read(key, parseBoolean, 'true, false');
  const age = (key: string) => read(key, (value = '') => parseAge(value), 'an age such as 30m, 12h or 14d');
  const size = (key: string) =>
    read(key, (value = '') => parseSize(value), 'a number such as 50, 512k or 200m');
  const { rescue } = DEFAULT_SETTINGS;
  return {
    enabled: flag('handoff.enabled'),
    marker: oneOf('handoff.marker', ['rewrite', 'handshake']) ?? DEFAULT_SETTINGS.marker,
    guardPath: texts('handoff.guardpath'),
    trailer: read('handoff.trailer', trailerOf, 'id, short, off') ?? DEFAULT_SETTINGS.trailer,
    assistedBy: flag('handoff.assistedby') ?? DEFAULT_SETTINGS.assistedBy,
    contention: oneOf('handoff.contention', ['deny', 'warn', 'off']) ?? DEFAULT_SETTINGS.contention,
    subAgents: oneOf('handoff.subagents', ['agents', 'session']) ?? DEFAULT_SETTINGS.subAgents,
    headCheck: oneOf('handoff.headcheck', ['amend', 'strict', 'off']) ?? DEFAULT_SETTINGS.headCheck,
    pushForeign: oneOf('handoff.pushforeign', ['warn', 'deny', 'allow']) ?? DEFAULT_SETTINGS.pushForeign,
    pushLease: flag('handoff.pushlease') ?? DEFAULT_SETTINGS.pushLease,
    staleAfterMs: age('handoff.staleafter') ?? DEFAULT_SETTINGS.staleAfterMs,
    automaticNotes: flag('handoff.automaticnotes') ?? DEFAULT_SETTINGS.automaticNotes,
    rescue: {
      maxCount: size('handoff.rescue.maxcount') ?? rescue.maxCount,
      maxAgeMs: age('handoff.rescue.maxage') ?? rescue.maxAgeMs,
      maxBytes: size('handoff.rescue.maxsize') ?? rescue.maxBytes,
    },
    operator: last('handoff.operator') === '' ? undefined : last('handoff.operator'),
    remotePrefix: parsePrefix(last('handoff.remoteprefix')) ?? DEFAULT_SETTINGS.remotePrefix,
    verifyOperators: flag('handoff.verifyoperators') ?? DEFAULT_SETTINGS.verifyOperators,
    secretScan: oneOf('handoff.secretscan', ['deny', 'warn', 'off']) ?? DEFAULT_SETTINGS.secretScan,
    maxWork: size('handoff.maxwork') ?? DEFAULT_SETTINGS.maxWork,
    tryLinks: all('handoff.trylinks').length === 0 ? DEFAULT_SETTINGS.tryLinks : texts('handoff.trylinks'),
    unknown,
  };
}

/** Makes a ref prefix end with a slash. Whether it is valid is checked where it is used. */
function parsePrefix(text: string | undefined): string | undefined {
  return text === undefined || text === '' || text.endsWith('/') ? text : `${text}/`;
}

/** Reads what goes into a commit's trailer; git's words for a boolean switch it on or off. */
function trailerOf(value: string | undefined): Settings['trailer'] | undefined {
  const known = (['id', 'short'] as const).find((one) => one === value?.toLowerCase());
  if (known !== undefined) return known;
  const isOn = parseBoolean(value);
  return isOn === undefined ? undefined : isOn ? 'id' : 'off';
}

/** Reads git's words for a boolean; a key without a value is true (git-config(1)). `undefined`: anything else. */
function parseBoolean(given: string | undefined): boolean | undefined {
  const value = given?.toLowerCase();
  if (value === undefined || TRUE_WORDS.includes(value)) return true;
  return value === '' || FALSE_WORDS.includes(value) ? false : undefined;
}

/** A setting as git lists it: its key, in lower case except for a subsection, and its value. */
export type SettingEntry = readonly [key: string, value: string | undefined];

/** One entry as git lists it: key, line feed, value; a key without a value has no line feed. */
export function settingEntry(entry: string): SettingEntry {
  const end = entry.indexOf('\n');
  return end < 0 ? [entry, undefined] : [entry.slice(0, end), entry.slice(end + 1)];
}

/** Returns the user's aliases of git, by lower-case name. */
export function aliasesFrom(entries: readonly SettingEntry[]): ReadonlyMap<string, string> {
  return new Map(
    entries.flatMap(([key, value]) =>
      key.startsWith('alias.') && value !== undefined ? [[key.slice('alias.'.length), value] as const] : [],
    ),
  );
}

/** Returns the settings of git that decide what its verbs do to uncommitted work. */
export function treeSettingsFrom(entries: readonly SettingEntry[]): TreeSettings {
  const value = (key: string) => {
    const found = entries.findLast(([name]) => name === key);
    return found === undefined ? undefined : parseBoolean(found[1]);
  };
  return {
    rebaseStashes: value('rebase.autostash') === true,
    mergeStashes: value('merge.autostash') === true,
    cleansUnforced: value('clean.requireforce') === false,
  };
}

/** Settings of git that decide what a verb does to uncommitted work (git-config(1)). */
export interface TreeSettings {
  /** `rebase.autoStash` */
  readonly rebaseStashes: boolean;
  /** `merge.autoStash` */
  readonly mergeStashes: boolean;
  /** `clean.requireForce` is off. */
  readonly cleansUnforced: boolean;
}

/** git's words for a boolean (git-config(1)), in any case of letters. */
const TRUE_WORDS: readonly string[] = ['true', 'yes', 'on', '1'];
const FALSE_WORDS: readonly string[] = ['false', 'no', 'off', '0'];

/** Reports an invalid value of a setting. */
export function unknownValueText({ key, value, known }: UnknownValue): string {
  return `${escapeLine(key)} is set to ${escapeLine(JSON.stringify(value))}, which is not a valid value; the default applies. Valid: ${known}`;
}

/** When to ask a session for a note. Separate from the other settings, which every hook call reads. */
interface ContextSettings {
  /** Percent of the context at which to ask; `undefined`: never. */
  readonly contextNudge: number | undefined;
  /** The size of the context in tokens, for clients that do not state it. */
  readonly contextWindow: number | undefined;
  readonly unknown: readonly UnknownValue[];
}

const DEFAULT_NUDGE = 75;

/** Reads these settings from git's `key value` pairs; the last value of a key wins. */
export function parseContextSettings(entries: readonly SettingEntry[]): ContextSettings {
  const last = (key: string) => entries.findLast(([name]) => name.toLowerCase() === key);
  const [nudge, window] = [last('handoff.contextnudge'), last('handoff.contextwindow')];
  const percent = nudge === undefined ? DEFAULT_NUDGE : percentOf(nudge[1]);
  const tokens = window === undefined ? undefined : parseSize(window[1] ?? '');
  const unknown = (entry: SettingEntry | undefined, value: number | undefined, known: string) =>
    entry === undefined || value !== undefined ? [] : [{ key: entry[0], value: entry[1] ?? '', known }];
  return {
    contextNudge: (percent ?? DEFAULT_NUDGE) || undefined,
    contextWindow: tokens || undefined,
    unknown: [
      ...unknown(nudge, percent, 'a percentage such as 75, or false'),
      ...unknown(window, tokens, 'a number of tokens such as 200000'),
    ],
  };
}

/** Returns a percentage, 0 for git's false values; a key without a value means true (git-config(1)). */
function percentOf(text = 'true'): number | undefined {
  if (/^(?:true|yes|on)$/i.test(text)) return DEFAULT_NUDGE;
  if (text === '' || FALSE_WORDS.includes(text.toLowerCase())) return 0;
  const percent = /^(\d{1,3}) ?%?$/.exec(text)?.[1];
  return percent === undefined || Number(percent) > 100 ? undefined : Number(percent);
}
