// Which tests are to see a mutant: where their files are, and which vitest project runs them.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';

/** The test files below `test/`, as paths from the root. */
export function testFiles(root) {
  return readdirSync(join(root, 'test'), { recursive: true })
    .map((name) => ['test', ...name.split(sep)].join('/'))
    .filter((name) => name.endsWith('.test.ts'));
}

/**
 * The file of that name, wherever below `test/` it is: a test that moves needs no edit of the list. Where several are called
 * so, the one in the folder of `project` is meant.
 */
export function findTestFile(files, { project }, name) {
  const named = files.filter((file) => basename(file) === basename(name));
  const here = named.filter((file) => file.startsWith(`test/${project}/`));
  const [found, ...more] = named.length > 1 ? here : named;
  if (found === undefined || more.length > 0)
    throw new Error(`${named.length} test files are called ${basename(name)}`);
  return found;
}

/** The vitest projects of `npm test`, in its order: cheap ones come first there. */
export function quickProjects(root) {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return [...scripts.test.matchAll(/--project[= ]([^\s'"]+)/g)].map(([, name]) => name);
}

/** Files by the project that runs them, from what `vitest list --filesOnly --json` prints. */
export function projectsByFile(root, listing) {
  const listed = JSON.parse(listing.slice(listing.indexOf('[')));
  return new Map(
    listed.map(({ file, projectName }) => [relative(root, file).split(sep).join('/'), projectName]),
  );
}

/** A mutant's tests, a part for each project, those of `npm test` first. `isQuick`: it is one of those. */
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
