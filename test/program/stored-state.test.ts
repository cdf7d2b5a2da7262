import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { putToken } from '../../src/sessions/bypass.ts';
import { A, B, SharingWorld, refusal } from '../support/sharing-world.ts';

const MOST_KINDS = 25;
/** This test cannot make them: the first needs a client that names an agent's parent, the second a start of Node. */
const NOT_HERE = ['`agents/<agent>`', '`code/<hash>`'];

/** A line of docs/stored-state.md, and the places that it names, as patterns. */
interface Kind {
  readonly line: string;
  readonly places: readonly RegExp[];
}

/** All that the page lists: refs, and files in the common folder, the git dir and the user's folder. */
function listedKinds(): Kind[] {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'stored-state.md'), 'utf8');
  const [, refs = '', folder = '', gitDir = '', user = ''] = page.split(
    /^(?:## Refs|In `<common dir>\/handoff\/`:|In each worktree's git dir:|In the user's folder, .*)$/m,
  );
  return [
    ...kindsIn(refs, 'refs/'),
    ...kindsIn(folder, 'handoff/'),
    ...kindsIn(gitDir, ''),
    ...kindsIn(user, 'user/'),
  ];
}

/** Reads the lines of a part of the page. Places are before the colon; those after "in the user's folder" are in that folder. */
function kindsIn(part: string, prefix: string): Kind[] {
  return [...part.matchAll(/^- (`.*?)(?:: .*)$/gm)].map(([line, head = '']) => {
    const [here = '', atUser = ''] = head.split("in the user's folder");
    const placesOf = (text: string, before: string) =>
      [...text.matchAll(/`([^`]+)`/g)].map(
        ([, name = '']) =>
          new RegExp(`^${before}${name.replaceAll('.', '\\.').replace(/<[^>]+>/g, '[^/]+')}$`),
      );
    return { line, places: [...placesOf(here, prefix), ...placesOf(atUser, 'user/')] };
  });
}

const filesBelow = (folder: string, prefix: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => prefix + join(entry.parentPath, entry.name).slice(folder.length + 1));

let world: SharingWorld;
afterEach(() => world.remove());

/** All that we store now, named as the page names it. */
function stored(): string[] {
  const gitDir = join(world.path, '.git');
  return [
    ...world.git(['for-each-ref', '--format=%(refname)', 'refs/handoffs', 'refs/handoffs-local', 'refs/handoffs-remote']).split('\n'), // prettier-ignore
    ...filesBelow(join(gitDir, 'handoff'), 'handoff/'),
    ...readdirSync(gitDir).filter((name) => name.startsWith('handoff-')),
    ...filesBelow(join(world.home, '.local', 'state', 'git-handoff'), 'user/'),
  ].filter((name) => name !== '');
}

it('docs/stored-state.md lists whatever sessions leave behind, in at most 25 kinds', () => {
  world = new SharingWorld();
  const seen = new Set<string>();
  const look = () => stored().forEach((name) => seen.add(name));
  const remote = join(world.root, 'remote.git');
  world.git(['init', '-q', '--bare', remote]);
  world.git(['remote', 'add', 'origin', remote]);

  world.begin(A);
  look();
  world.begin(B);
  world.try(A, 'src/b.ts', 'announced\n');
  look();
  world.write(A, 'src/a.ts', 'of A\n');
  world.bash(A, 'echo more >>src/a.ts; echo new >b.txt');
  refusal(world.try(B, 'src/a.ts', 'of B\n'));
  world.write(B, 'shared.md', 'of B\n');
  world.bash(B, "git add -A && git commit -qm 'two\u0007lines'");
  look();
  world.bash(A, 'git checkout -- src/a.ts');
  world.write(A, 'src/a.ts', 'again\n');
  world.ok(['write', 'auth-refresh', '-m', 'half done', '--with-work'], { session: A });
  world.handoff(['write', 'auth-refresh', '-m', 'of B'], { session: B });
  world.ok(['ack', 'auth-refresh'], { session: B });
  world.ok(['push', '--with-work', 'auth-refresh']);
  look();
  world.git(['reset', '-q', '--hard']);
  world.ok(['unpack', 'auth-refresh'], { session: A });
  look();
  world.ok(['purge', 'auth-refresh', '--yes'], { session: A });
  putToken(join(world.path, '.git'), { v: 1, at: Date.now(), session: null });
  look();
  world.write(B, 'src/a.ts', 'let through\n');
  const note = join(world.path, 'projects', 'x', 'memory', 'handoff-main-old-notes.md');
  world.write(A, 'projects/x/memory/handoff-main-old-notes.md', `<!-- claude-session: ${A} -->\ntext\n`);
  writeFileSync(note, 'changed behind our back\n');
  world.bash(B, 'make');
  look();

  const kinds = listedKinds();
  const kindOf = (name: string) => kinds.filter(({ places }) => places.some((place) => place.test(name)));
  expect([...seen].filter((name) => kindOf(name).length !== 1)).toEqual([]);
  expect(kinds.length).toBeLessThanOrEqual(MOST_KINDS);
  const unseen = kinds.filter(
    ({ places }) => ![...seen].some((name) => places.some((one) => one.test(name))),
  );
  expect(unseen.flatMap(({ line }) => /`[^`]+`/.exec(line) ?? [])).toEqual(NOT_HERE);
});
