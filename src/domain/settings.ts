import type { SecretScan } from './secrets/verdict.ts';

/** The program's git-config(1) settings; every one is documented in docs/git-handoff.1. */
export interface Settings {
  /** `undefined`: `init` never ran here, only marker files are guarded. */
  readonly enabled: boolean | undefined;
  readonly marker: 'rewrite' | 'handshake';
  /** Further shell patterns of files guarded like the predecessors' handoff files. */
  readonly guardPath: readonly string[];
  readonly trailer: 'id' | 'short' | 'off';
  /** What happens when a session edits a path that another live session has changed. */
  readonly contention: 'deny' | 'warn' | 'off';
  /** `amend`: no live session's commit is rewritten; `strict`: nothing is done on top of one either. */
  readonly headCheck: 'amend' | 'strict' | 'off';
  /** What a push does that takes along commits of other live sessions. */
  readonly pushForeign: 'warn' | 'deny' | 'allow';
  /** How long a silent session counts as live when its process cannot be seen. Milliseconds. */
  readonly staleAfterMs: number;
  /** Whether the program leaves a note for a session that left none. */
  readonly automaticNotes: boolean;
  /** How much is kept of what destructive commands would lose, for each worktree. */
  readonly rescue: RescueLimits;
  /** The operator that reads and writes here, as it was typed; whether it is a name is asked where it is used. */
  readonly operator: string | undefined;
  /** Where handoffs stand on remotes and servers that take no refs below `refs/handoffs/`; ends with a slash, not checked. */
  readonly remotePrefix: string;
  /** Whether a note may only name operators that OPERATORS.md knows. */
  readonly verifyOperators: boolean;
  /** What happens to a note with what looks like a secret, when it is written and when it would leave. */
  readonly secretScan: SecretScan;
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
  contention: 'deny',
  headCheck: 'amend',
  pushForeign: 'warn',
  staleAfterMs: 30 * 60 * 1000,
  automaticNotes: true,
  rescue: { maxCount: 50, maxAgeMs: 14 * 86_400_000, maxBytes: 200 * 1024 * 1024 },
  operator: undefined,
  remotePrefix: 'refs/handoffs/',
  verifyOperators: false,
  secretScan: 'deny',
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
export function parseSize(text: string): number | undefined {
  const match = /^(\d{1,9})([kmg]?)$/i.exec(text.trim());
  const unit = SIZES[(match?.[2] ?? '').toLowerCase()];
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}

/** Builds the settings from `key value` pairs as git lists them; the last value of a key counts. */
export function parseSettings(
  entries: readonly (readonly [key: string, value: string | undefined])[],
): Settings {
  const all = (key: string) =>
    entries.filter(([name]) => name.toLowerCase() === key).map(([, value]) => value);
  const last = (key: string) => all(key).at(-1);
  const oneOf = <T extends string>(key: string, values: readonly T[], fallback: T): T =>
    values.find((value) => value === last(key)?.toLowerCase()) ?? fallback;
  return {
    enabled: parseBoolean(all('handoff.enabled')),
    marker: oneOf('handoff.marker', ['rewrite', 'handshake'], DEFAULT_SETTINGS.marker),
    guardPath: all('handoff.guardpath').flatMap((value) =>
      value === undefined || value === '' ? [] : [value],
    ),
    trailer: oneOf('handoff.trailer', ['id', 'short', 'off'], DEFAULT_SETTINGS.trailer),
    contention: oneOf('handoff.contention', ['deny', 'warn', 'off'], DEFAULT_SETTINGS.contention),
    headCheck: oneOf('handoff.headcheck', ['amend', 'strict', 'off'], DEFAULT_SETTINGS.headCheck),
    pushForeign: oneOf('handoff.pushforeign', ['warn', 'deny', 'allow'], DEFAULT_SETTINGS.pushForeign),
    staleAfterMs: parseAge(last('handoff.staleafter') ?? '') ?? DEFAULT_SETTINGS.staleAfterMs,
    automaticNotes: parseBoolean(all('handoff.automaticnotes')) ?? DEFAULT_SETTINGS.automaticNotes,
    rescue: {
      maxCount: parseSize(last('handoff.rescue.maxcount') ?? '') ?? DEFAULT_SETTINGS.rescue.maxCount,
      maxAgeMs: parseAge(last('handoff.rescue.maxage') ?? '') ?? DEFAULT_SETTINGS.rescue.maxAgeMs,
      maxBytes: parseSize(last('handoff.rescue.maxsize') ?? '') ?? DEFAULT_SETTINGS.rescue.maxBytes,
    },
    operator: last('handoff.operator') === '' ? undefined : last('handoff.operator'),
    remotePrefix: parsePrefix(last('handoff.remoteprefix')) ?? DEFAULT_SETTINGS.remotePrefix,
    verifyOperators: parseBoolean(all('handoff.verifyoperators')) ?? DEFAULT_SETTINGS.verifyOperators,
    secretScan: oneOf('handoff.secretscan', ['deny', 'warn', 'off'], DEFAULT_SETTINGS.secretScan),
  };
}

/** A folder of refs; the slash at its end may be left out. Whether it is one is asked where it is used. */
function parsePrefix(text: string | undefined): string | undefined {
  return text === undefined || text === '' || text.endsWith('/') ? text : `${text}/`;
}

/** git's spellings of a boolean; a key without a value is true (git-config(1)). Unset or odd: `undefined`. */
function parseBoolean(values: readonly (string | undefined)[]): boolean | undefined {
  if (values.length === 0) return undefined;
  const value = values.at(-1)?.toLowerCase();
  if (value === undefined || ['true', 'yes', 'on', '1'].includes(value)) return true;
  return ['false', 'no', 'off', '0', ''].includes(value) ? false : undefined;
}

/** One entry as git lists it: key, separator, value; a key without a value has no separator. */
export function settingEntry(entry: string, separator: string): readonly [string, string | undefined] {
  const end = entry.indexOf(separator);
  return end < 0 ? [entry, undefined] : [entry.slice(0, end), entry.slice(end + 1)];
}

/** The user's aliases of git among what the launcher read, by lower-case name. */
export function aliasesFromLines(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\n').flatMap((line) => {
    const [key, value] = settingEntry(line, ' ');
    return key.startsWith('alias.') && value !== undefined
      ? [[key.slice('alias.'.length), value] as const]
      : [];
  });
  return new Map(lines);
}

/** The settings of git that decide what its verbs do to uncommitted work, from what the launcher read. */
export function treeSettingsFromLines(text: string): TreeSettings {
  const entries = text.split('\n').map((line) => settingEntry(line, ' '));
  const value = (key: string) =>
    parseBoolean(entries.filter(([name]) => name === key).map(([, each]) => each));
  return {
    rebaseStashes: value('rebase.autostash') === true,
    mergeStashes: value('merge.autostash') === true,
    cleansUnforced: value('clean.requireforce') === false,
  };
}

/** The settings that the launcher read: `key value` lines, as git-config(1) prints them without `-z`. */
export function settingsFromLines(text: string): Settings {
  const lines = text.split('\n').filter((line) => line.startsWith('handoff.'));
  return parseSettings(lines.map((line) => settingEntry(line, ' ')));
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
