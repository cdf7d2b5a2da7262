import type { GitOverrides } from '../effects.ts';
import type { ShellMachine } from '../machine.ts';
import type { Scope } from '../scope.ts';
import { isKnown } from '../unknown.ts';

/** Variables that tell git which configuration counts (git(1), git-config(1)). */
const VARIABLES = [
  'GIT_CONFIG_COUNT',
  'GIT_CONFIG_PARAMETERS',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'HOME',
  'XDG_CONFIG_HOME',
];
/** More pairs than this are not listed: the first ones tell enough. */
const MAX_PAIRS = 64;

/** Where options of a git stand for the gits that its aliases start; no script can use the name. */
const INHERITED = ' git options';

/** Options that change git's configuration, of this call and of the one that started it. */
export function configOptions(
  machine: ShellMachine,
  scope: Scope,
  own: readonly string[],
): readonly string[] {
  const above = machine.value(scope, INHERITED);
  return typeof above === 'string' ? [...above.split('\n'), ...own] : own;
}

/** Hands the options on, as git does by its environment. */
export function passOn(scope: Scope, options: readonly string[]): void {
  if (options.length > 0) scope.set(INHERITED, options.join('\n'), true);
}

/** How the configuration that a call sees differs from what a plain git would see there; `undefined`: in nothing. */
export function overridesOf(
  machine: ShellMachine,
  scope: Scope,
  options: readonly string[],
): GitOverrides | undefined {
  const variables = new Map<string, string | undefined>();
  const look = (name: string) => {
    const variable = scope.lookup(name);
    const [value] = variable?.exported === true ? variable.values : [];
    const text = typeof value === 'string' ? value : '';
    const before = machine.disk.world.variable(name) ?? '';
    if (text !== before) variables.set(name, isKnown(text) ? text : undefined);
    return text;
  };
  for (const name of VARIABLES) look(name);
  const pairs = Math.min(Number(variables.get('GIT_CONFIG_COUNT') ?? 0) || 0, MAX_PAIRS);
  for (let n = 0; n < pairs; n++) {
    look(`GIT_CONFIG_KEY_${n}`);
    look(`GIT_CONFIG_VALUE_${n}`);
  }
  // The variable that `--config-env` names.
  for (const option of options) {
    const name = /^--config-env=[^=]*=(\w+)$/.exec(option)?.[1];
    if (name !== undefined) look(name);
  }
  if (options.length === 0 && variables.size === 0) return undefined;
  return { options: options.map(knownOption), variables };
}

/** A value that is not known matters only to a setting that decides whether hooks run. */
function knownOption(word: string): string | undefined {
  if (isKnown(word)) return word;
  const key = word.slice(0, word.indexOf('='));
  const isPlain =
    isKnown(key) && /\./.test(key) && !/^(?:core\.hookspath|handoff\.|hook\.|include)/i.test(key);
  return isPlain ? `${key}=` : undefined;
}
