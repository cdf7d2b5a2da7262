// Who imports whom: the build cuts bundles along it, tests and scripts ask what an entry loads.
// Nothing here knows a folder of src/, so sources may move.
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { parseSync } from 'rolldown/utils';

/**
 * What a module imports when it runs: sources by their path, libraries and Node's own modules by their name.
 * `lazy` is what `import()` loads, when the code gets there.
 * @typedef {{ readonly always: readonly string[], readonly lazy: readonly string[] }} Imports
 */

/** @type {Map<string, Imports>} */
const read = new Map();

/**
 * What a source imports. A module that is no TypeScript of ours imports nothing.
 * @param {string} module
 * @returns {Imports}
 */
export function importsOf(module) {
  let imports = read.get(module);
  if (imports === undefined) {
    imports = module.endsWith('.ts')
      ? parseImports(module, readFileSync(module, 'utf8'))
      : { always: [], lazy: [] };
    read.set(module, imports);
  }
  return imports;
}

/**
 * What a text imports that is in `file`. The import of a type leaves nothing behind, so it does not count.
 * @param {string} file
 * @param {string} text
 * @returns {Imports}
 */
export function parseImports(file, text) {
  const { module, errors } = parseSync(file, text);
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  const fixed = module.staticImports
    .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
    .map(({ moduleRequest }) => moduleRequest.value);
  const passedOn = module.staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ isType, moduleRequest }) => (isType || moduleRequest === null ? [] : moduleRequest.value));
  const lazy = module.dynamicImports.map(({ moduleRequest: { start, end } }) =>
    text.slice(start + 1, end - 1),
  );
  const target = (/** @type {string} */ name) => (name.startsWith('.') ? resolve(dirname(file), name) : name);
  return { always: [...fixed, ...passedOn].map(target), lazy: lazy.map(target) };
}

/**
 * Every module that an entry loads, itself included: at once, or with `lazily` ever.
 * @param {string} entry
 * @param {{ lazily?: boolean, of?: (module: string) => Imports }} [options] `of`: another reader of imports, such as
 *   the bundler
 * @returns {Set<string>}
 */
export function closureOf(entry, { lazily = false, of = importsOf } = {}) {
  return reach(entry, of, () => lazily);
}

/** The modules that are reached through static imports, and through the `import()`s that `follow` chooses. */
function reach(entry, of, follow) {
  const reached = new Set([entry]);
  for (const module of reached) {
    const { always, lazy } = of(module);
    for (const next of always) reached.add(next);
    for (const next of lazy) if (follow(module, next)) reached.add(next);
  }
  return reached;
}

/**
 * Which of some modules import a module, and whether they do so lazily.
 * @param {string} module
 * @param {Iterable<string>} modules
 * @param {(module: string) => Imports} [of]
 * @returns {{ importer: string, lazy: boolean }[]}
 */
export function importersOf(module, modules, of = importsOf) {
  return [...modules].flatMap((importer) => {
    const { always, lazy } = of(importer);
    if (always.includes(module)) return { importer, lazy: false };
    return lazy.includes(module) ? { importer, lazy: true } : [];
  });
}

/**
 * The circles of static imports among some modules: each is a list of modules that all reach each other.
 * @param {Iterable<string>} modules
 * @param {(module: string) => Imports} [of]
 * @returns {string[][]}
 */
export function circlesOf(modules, of = importsOf) {
  const closures = new Map([...modules].map((module) => [module, closureOf(module, { of })]));
  /** @type {Set<string>} */
  const told = new Set();
  const circles = [];
  for (const [module, closure] of closures) {
    if (told.has(module)) continue;
    const circle = [...closure].filter((other) => closures.get(other)?.has(module));
    for (const other of circle) told.add(other);
    if (circle.length > 1) circles.push(circle.sort());
  }
  return circles;
}

/**
 * The bundle of every module that an entry reaches. `import()` is the only border, and a part is what begins behind it:
 *
 * - what the entry imports statically is `main`;
 * - a module belongs to the innermost part that every way to it leads through;
 * - what several parts share is `shared`; with `tiers` it is in the first of them of which a module needs it, or else `seldom`;
 * - but what needs a library, such as the bash parser, joins only those who cannot do without it. Where nobody has it for
 *   himself its bundle is `undefined`: the bundler's choice.
 * @param {string} entry
 * @param {{ of?: (module: string) => Imports, partOf?: (importer: string, target: string) => string |
 *   undefined, isLibrary?: (module: string) => boolean, tiers?: Record<string, (module: string) => boolean> }} [options]
 *   `partOf`: `import()`s with the same answer begin the same part, those without an answer none: what they need is shared.
 *   Without it each target is a part. `tiers`: the modules that are started most, and then those that come next, by the names
 *   of their bundles
 * @returns {Map<string, string | undefined>}
 */
export function bundlesOf(entry, options = {}) {
  const { of = importsOf, partOf = (_, target) => target, isLibrary = () => false, tiers = {} } = options;
  const main = closureOf(entry, { of });
  const needsLibrary = (/** @type {string} */ module) =>
    [...closureOf(module, { of })].some((needed) => isLibrary(needed) && !main.has(needed));
  const all = closureOf(entry, { lazily: true, of });
  const needs = Object.entries(tiers).map(([name, begins]) => ({
    name,
    modules: new Set([...all].filter(begins).flatMap((module) => [...closureOf(module, { of })])),
  }));
  const tierOf = (/** @type {string} */ module) => needs.find(({ modules }) => modules.has(module))?.name;
  const isUsual = (/** @type {string} */ module) => needs.length === 0 || tierOf(module) !== undefined;
  const shared = (/** @type {string} */ module) =>
    isUsual(module) ? (tierOf(module) ?? 'shared') : 'seldom';
  /** @type {Map<string, string | undefined>} */
  const bundles = new Map();
  for (const module of all) {
    bundles.set(module, main.has(module) ? 'main' : needsLibrary(module) ? undefined : shared(module));
  }
  const names = new Set(['main', 'shared', 'seldom', ...Object.keys(tiers)]);
  for (const { part, targets, inside } of partsOf(entry, of, partOf)) {
    const name = freeName(targets.size === 1 ? [...targets][0] : part, names);
    const needed = new Set([...targets].flatMap((target) => [...closureOf(target, { of })]));
    for (const module of inside) {
      // What needs this part is of no use without it.
      const isOwn = [...closureOf(module, { of })].some((one) => needed.has(one) && inside.includes(one));
      const bundle = isOwn || isUsual(module) ? name : 'seldom';
      bundles.set(module, needed.has(module) || !needsLibrary(module) ? bundle : undefined);
    }
  }
  return bundles;
}

/** The parts of an entry that have modules for themselves, an outer one before those inside it. */
function partsOf(entry, of, partOf) {
  const all = closureOf(entry, { lazily: true, of });
  /** @type {Map<string, Set<string>>} */
  const targets = new Map();
  for (const importer of all) {
    for (const target of of(importer).lazy) {
      const part = partOf(importer, target);
      if (part === undefined) continue;
      targets.set(part, (targets.get(part) ?? new Set()).add(target));
    }
  }
  return [...targets]
    .map(([part, own]) => {
      const elsewhere = reach(entry, of, (importer, target) => partOf(importer, target) !== part);
      return { part, targets: own, inside: [...all].filter((module) => !elsewhere.has(module)) };
    })
    .filter(({ inside }) => inside.length > 0)
    .sort((one, other) => other.inside.length - one.inside.length);
}

/** A bundle is named after a module; where two have one name the second gets a number. */
function freeName(module, taken) {
  const base = basename(module).replace(/\.\w+$/, '');
  let name = base;
  for (let n = 2; taken.has(name); n += 1) name = `${base}-${n}`;
  taken.add(name);
  return name;
}
