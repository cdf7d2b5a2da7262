// Who imports whom: tests use this to check what an entry loads, and scripts/rooms.mjs to find import cycles.
// Nothing here names a folder of src/, so sources may move.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseSync } from 'rolldown/utils';

/**
 * What a module imports when it runs: sources by their path, libraries and Node's own modules by their name.
 * `lazy` is what `import()` loads once the code reaches it.
 * @typedef {{ readonly always: readonly string[], readonly lazy: readonly string[] }} Imports
 */

/** @type {Map<string, Imports>} */
const read = new Map();

/**
 * What a source imports. A module that is not our TypeScript counts as importing nothing.
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
 * What the text of `file` imports. Type imports leave nothing in the program, so they do not count.
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
 * Every module that an entry loads at once or, with `lazily`, at any time, including the entry itself.
 * @param {string} entry
 * @param {{ lazily?: boolean, of?: (module: string) => Imports }} [options] `of`: another reader of imports, such as
 *   the bundler
 * @returns {Set<string>}
 */
export function closureOf(entry, { lazily = false, of = importsOf } = {}) {
  const reached = new Set([entry]);
  for (const module of reached) {
    const { always, lazy } = of(module);
    for (const next of lazily ? [...always, ...lazy] : always) reached.add(next);
  }
  return reached;
}

/**
 * The cycles of static imports among some modules: each is a list of modules that all reach each other.
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
