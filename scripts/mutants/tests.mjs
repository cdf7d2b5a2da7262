// The tests that should detect a mutant: where their files are, and which vitest project runs them.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';

/** The test files in `test/`, as paths from the root. */
export function testFiles(root) {
  return readdirSync(join(root, 'test'), { recursive: true })
    .map((name) => ['test', ...name.split(sep)].join('/'))
    .filter((name) => name.endsWith('.test.ts'));
}

/**
 * The file with this name, wherever it is in `test/`, so that moving a test needs no edit of the list. If several files
 * have the name, the one in the folder of `project` is meant.
 */
export function findTestFile(files, { project }, name) {
  const named = files.filter((file) => basename(file) === basename(name));
  const here = named.filter((file) => file.startsWith(`test/${project}/`));
  const [found, ...more] = named.length > 1 ? here : named;
  if (found === undefined || more.length > 0)
    throw new Error(`${named.length} test files are called ${basename(name)}`);
  return found;
}

/** The vitest projects of `npm test`, in their order there: cheap ones first. */
export function quickProjects(root) {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return [...scripts.test.matchAll(/--project[= ]([^\s'"]+)/g)].map(([, name]) => name);
}

/** The project that runs each file, from the output of `vitest list --filesOnly --json`. */
export function projectsByFile(root, listing) {
  const listed = JSON.parse(listing.slice(listing.indexOf('[')));
  return new Map(
    listed.map(({ file, projectName }) => [relative(root, file).split(sep).join('/'), projectName]),
  );
}

/** A mutant's tests, one part per project. The parts that `npm test` runs (`isQuick`) come first. */
export function partsOf(mutant, files, projects, quick) {
  const parts = mutant.tests.flatMap((one) => {
    const byProject = new Map();
    for (const path of one.files.map((name) => findTestFile(files, one, name))) {
      const project = projects.get(path);
      if (project === undefined) throw new Error(`no vitest project runs ${path}`);
      byProject.set(project, [...(byProject.get(project) ?? []), path]);
    }
    return [...byProject].map(([project, paths]) => ({
      project,
      files: paths,
      name: one.name,
      isQuick: quick.includes(project),
    }));
  });
  const rank = ({ project, isQuick }) => (isQuick ? quick.indexOf(project) : quick.length);
  return parts.sort((a, b) => rank(a) - rank(b));
}
