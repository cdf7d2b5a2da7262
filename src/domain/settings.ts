import { escapeLine } from './messages.ts';

/** The program's git-config(1) settings; every one is documented in docs/git-handoff.1. */
export type Settings = Readonly<ReturnType<typeof parseSettings>>;

/** An invalid value of a setting. */
export interface UnknownValue {
  /** As git lists it, in lower case. */
  readonly key: string;
  readonly value: string;
  /** The valid values, in words. */
  readonly known: string;
}

const UNITS: Readonly<Record<string, number>> = { m: 60e3, h: 3600e3, d: 86400e3, w: 7 * 86400e3 };

/** Reads an age such as `30m`, `12h`, `30d` or `2w`, in milliseconds. */
export function parseAge(text: string): number | undefined {
  const match = /^(\d{1,6})([mhdw])$/.exec(text.trim());
  const unit = UNITS[match?.[2] ?? ''];
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}

const SIZES: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** Reads a size in bytes, as git-config(1) writes integers: `512k`, `200m`, `1g`. */
function parseSize(text: string): number | undefined {
  const match = /^(\d{1,9})([kmg]?)$/i.exec(text.trim());
  const unit = SIZES[(match?.[2] ?? '').toLowerCase()];
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}

const TRY_LINKS: readonly string[] = ['node_modules', '.venv', 'vendor'];
const DEFAULT_NUDGE = 75;

/** How a setting's value is read, and what the valid values are, in words. */
interface Kind<Value> {
  /** Returns `undefined` for an invalid value. A key without a value has the value `undefined`. */
  readonly parse: (value: string | undefined) => Value | undefined;
  readonly known: string;
}

const FLAG: Kind<boolean> = { parse: parseBoolean, known: 'true, false' };
const AGE: Kind<number> = { parse: (value = '') => parseAge(value), known: 'an age such as 30m, 12h or 14d' };
const SIZE: Kind<number> = {
  parse: (value = '') => parseSize(value),
  known: 'a number such as 50, 512k or 200m',
};
const PERCENT: Kind<number> = { parse: percentOf, known: 'a percentage such as 75, or false' };
const TOKENS: Kind<number> = { ...SIZE, known: 'a number of tokens such as 200000' };
const TRAILER: Kind<'id' | 'short' | 'off'> = { parse: trailerOf, known: 'id, short, off' };

const oneOf = <Word extends string>(...words: readonly Word[]): Kind<Word> => ({
  parse: (value) => words.find((word) => word === value?.toLowerCase()),
  known: words.join(', '),
});

/** Builds the settings. The last value of a key counts, or the default if that value is invalid or missing. */
export function parseSettings(entries: readonly SettingEntry[]) {
  const unknown: UnknownValue[] = [];
  const all = (key: string) =>
    entries.filter(([name]) => name.toLowerCase() === key).map(([, value]) => value);
  const last = (key: string) => all(key).at(-1);
  const texts = (key: string) => all(key).flatMap((value) => value || []);
  const read = <Value, Default>(key: string, { parse, known }: Kind<Value>, otherwise: Default) => {
    const values = all(key);
    const value = parse(values.at(-1));
    if (values.length > 0 && value === undefined) unknown.push({ key, value: values.at(-1) ?? '', known });
    return values.length === 0 ? otherwise : (value ?? otherwise);
  };
  return {
    /** `undefined`: `init` never ran here, so only marker files are guarded. */
    enabled: read('handoff.enabled', FLAG, undefined),
    marker: read('handoff.marker', oneOf('rewrite', 'handshake'), 'rewrite'),
    /** Shell patterns of further files to guard like the predecessors' handoff files. */
    guardPath: texts('handoff.guardpath'),
    trailer: read('handoff.trailer', TRAILER, 'id'),
    /** Whether a session's commits name its client and model (`Assisted-by`). */
    assistedBy: read('handoff.assistedby', FLAG, false),
    /** What happens when a session edits a path that another live session has changed. */
    contention: read('handoff.contention', oneOf('deny', 'warn', 'off'), 'deny'),
    /** Whether a sub-agent's changes are its own while it runs (`agents`), or its session's at once. */
    subAgents: read('handoff.subagents', oneOf('agents', 'session'), 'agents'),
    /** Whether no session may rewrite another live session's commit (`amend`), or even use a tool at such a HEAD (`strict`). */
    headCheck: read('handoff.headcheck', oneOf('amend', 'strict', 'off'), 'amend'),
    /** What happens to a push that includes commits of other live sessions. */
    pushForeign: read('handoff.pushforeign', oneOf('warn', 'deny', 'allow'), 'warn'),
    /** Whether to refuse a session's push that drops others' commits from a branch at the remote. */
    pushLease: read('handoff.pushlease', FLAG, true),
    /** How long a silent session counts as live when its process cannot be seen. Milliseconds. */
    staleAfterMs: read('handoff.staleafter', AGE, 30 * 60_000),
    /** Whether git-handoff leaves a note for a session that left none. */
    automaticNotes: read('handoff.automaticnotes', FLAG, true),
    /** How much discarded work is kept, for each worktree and kind of rescue; `maxBytes` limits the total size. */
    rescue: {
      maxCount: read('handoff.rescue.maxcount', SIZE, 50),
      maxAgeMs: read('handoff.rescue.maxage', AGE, 14 * 86_400_000),
      maxBytes: read('handoff.rescue.maxsize', SIZE, 200 * 1024 ** 2),
    },
    /** The operator that reads and writes here, as typed; the name is checked where it is used. */
    operator: last('handoff.operator') || undefined,
    /** The prefix of handoffs at remotes that take no refs under `refs/handoffs/`. It ends with a slash and is not checked. */
    remotePrefix: (last('handoff.remoteprefix') ?? 'refs/handoffs/').replace(/[^/]$/, '$&/'),
    /** Whether a note may only name operators that OPERATORS.md knows. */
    verifyOperators: read('handoff.verifyoperators', FLAG, false),
    /** What happens to a note that seems to hold a secret, when it is written and when it would leave this machine. */
    secretScan: read('handoff.secretscan', oneOf('deny', 'warn', 'off'), 'deny'),
    /** How many bytes of uncommitted work a note may carry. */
    maxWork: read('handoff.maxwork', SIZE, 20 * 1024 ** 2),
    /** Ignored dependencies that `try` links: names, or paths from the top. */
    tryLinks: all('handoff.trylinks').length === 0 ? TRY_LINKS : texts('handoff.trylinks'),
    /** The percentage of its context at which a session is asked for a note; 0: never. */
    contextNudge: read('handoff.contextnudge', PERCENT, DEFAULT_NUDGE),
    /** The size of the context in tokens, for clients that do not state it; 0: not known. */
    contextWindow: read('handoff.contextwindow', TOKENS, 0),
    /** Invalid values; the default applies instead. */
    unknown,
  };
}

export type RescueLimits = Settings['rescue'];

/** Reads what goes into a commit's trailer; git's words for a boolean switch it on or off. */
function trailerOf(value: string | undefined): 'id' | 'short' | 'off' | undefined {
  const isOn = parseBoolean(value);
  if (isOn !== undefined) return isOn ? 'id' : 'off';
  return (['id', 'short'] as const).find((one) => one === value?.toLowerCase());
}

/** Reads git's words for a boolean; a key without a value is true (git-config(1)). `undefined`: anything else. */
export function parseBoolean(given: string | undefined): boolean | undefined {
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

/** Whether a setting of git itself is on; `undefined`: it is not set, or is no boolean. */
export function isOn(entries: readonly SettingEntry[], key: string): boolean | undefined {
  const found = entries.findLast(([name]) => name === key);
  return found && parseBoolean(found[1]);
}

/** git's words for a boolean (git-config(1)), in any case of letters. */
const TRUE_WORDS: readonly string[] = ['true', 'yes', 'on', '1'];
const FALSE_WORDS: readonly string[] = ['false', 'no', 'off', '0'];

/** Reports an invalid value of a setting. */
export function unknownValueText({ key, value, known }: UnknownValue): string {
  return `${escapeLine(key)} is set to ${escapeLine(JSON.stringify(value))}, which is not a valid value; the default applies. Valid: ${known}`;
}

/** Reads a percentage; git's words for true mean the default, and those for false 0. */
function percentOf(text = 'true'): number | undefined {
  const isOn = parseBoolean(text);
  if (isOn !== undefined) return isOn ? DEFAULT_NUDGE : 0;
  const percent = /^(\d{1,3}) ?%?$/.exec(text)?.[1];
  return percent === undefined || Number(percent) > 100 ? undefined : Number(percent);
}
