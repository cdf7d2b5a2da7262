import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { lstatOf } from '../../src/host/disk.ts';
import type { TestRepository } from '../support/repository.ts';
import type { Random } from '../support/faults/seed.ts';

/** Random uncommitted changes of every kind that git knows, and a fingerprint of them. */

const TEXT = Array.from({ length: 12 }, (_, at) => `line ${at + 1}\n`).join('');
const BINARY = Buffer.from([0, 1, 2, 255, 254, 10, 13, 0]);

/** Contents of the base commit, by path. */
const BASE: Readonly<Record<string, string | Buffer>> = {
  'text.txt': TEXT,
  'crlf.txt': TEXT.replaceAll('\n', '\r\n'),
  'mixed.txt': 'one\r\ntwo\nthree\r\n',
  'data.bin': BINARY,
  'run.sh': '#!/bin/sh\n',
  'src/deep/er/a.ts': TEXT,
  'src/deep/b.ts': TEXT,
  'with space/ü "quoted".txt': TEXT,
  'line\nfeed.txt': TEXT,
  '-dash': TEXT,
  '*star?[a]': TEXT,
  'upper.filtered': 'SHOUTED\n',
  'windows.bat': 'echo\n',
  'wide.utf16': Buffer.from('\ufeffwide\n', 'utf16le'),
  'ident.c': '/* $Id$ */\n',
};

const ATTRIBUTES = [
  '*.filtered filter=shout',
  '*.bat eol=crlf',
  '*.utf16 working-tree-encoding=UTF-16LE-BOM',
  '*.c ident',
  '',
].join('\n');

/** Settings that both machines have. */
const SETTINGS = [
  ['filter.shout.clean', 'tr a-z A-Z'],
  ['filter.shout.smudge', 'tr A-Z a-z'],
  ['core.safecrlf', 'false'],
];

/** Makes the base commit in a repository: files of every kind, and a submodule that is not checked out. */
export function commitBase(world: TestRepository, random: Random): void {
  configure(world);
  const auto = random.pick(['', '* text=auto\n']);
  writeFileSync(join(world.path, '.gitattributes'), auto + ATTRIBUTES);
  for (const [path, content] of Object.entries(BASE)) put(world, path, content);
  chmodSync(join(world.path, 'run.sh'), 0o755);
  symlinkSync('text.txt', join(world.path, 'link'));
  world.git(['add', '-A']);
  world.git(['update-index', '--add', '--cacheinfo', `160000,${world.git(['rev-parse', 'HEAD'])},module`]);
  mkdirSync(join(world.path, 'module'));
  world.git(['commit', '-qm', 'base']);
}

/** Applies the settings of {@link commitBase} to another clone. */
export function configure(world: TestRepository): void {
  for (const words of SETTINGS) world.git(['config', ...words]);
}

function put(world: TestRepository, path: string, content: string | Buffer): void {
  const file = join(world.path, path);
  rmSync(file, { recursive: true, force: true });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** Makes changes in the working tree and the index. */
export function makeDirty(world: TestRepository, random: Random): string[] {
  const said: string[] = [];
  for (let left = 1 + random.below(9); left > 0; left--) {
    const path = random.pick([...Object.keys(BASE), 'link', '.gitattributes']);
    // Without .gitattributes, git would report some files as changed or not depending on their times.
    const isKept = path === '.gitattributes';
    const [name, act] = random.pick(
      isKept ? ACTS.filter(([kind]) => ['edit', 'stage'].includes(kind)) : ACTS,
    );
    const run = act(world, path, random);
    said.push(`${name} ${JSON.stringify(path)}${run}`);
  }
  return said;
}

type Act = (world: TestRepository, path: string, random: Random) => string;

const quietly = (world: TestRepository, ...args: string[]) =>
  world.run('git', ['--literal-pathspecs', ...args]).status === 0 ? '' : ' (no)';

const edited = (random: Random) =>
  random.pick([
    TEXT.replace('line 3', `line ${random.below(99)}`),
    TEXT.replaceAll('\n', '\r\n'),
    `${TEXT}more\n`,
    'no end',
    '',
    Buffer.concat([BINARY, Buffer.from([random.below(255)])]),
    Buffer.from(`\ufeffother ${random.below(9)}\n`, 'utf16le'),
    'Shouted or not\n',
    '/* $Id: odd $ */\n',
    'a\r\nb\n',
  ]);

const isPlain = (world: TestRepository, path: string) =>
  lstatSync(join(world.path, path), { throwIfNoEntry: false })?.isFile() === true;

const ACTS: readonly (readonly [string, Act])[] = [
  [
    'edit',
    (world, path, random) =>
      isPlain(world, path) ? (put(world, path, editedFor(path, random)), '') : ' (no)',
  ],
  [
    'edit',
    (world, path, random) =>
      isPlain(world, path) ? (put(world, path, editedFor(path, random)), '') : ' (no)',
  ],
  ['stage', (world, path) => quietly(world, 'add', '-A', '--', path)],
  ['stage', (world, path) => quietly(world, 'add', '-A', '--', path)],
  ['delete', (world, path) => (rmSync(join(world.path, path), { recursive: true, force: true }), '')],
  ['untrack', (world, path) => quietly(world, 'rm', '-q', '-r', '--cached', '--', path)],
  [
    'mode',
    (world, path) => {
      if (!isPlain(world, path)) return ' (no)';
      const file = join(world.path, path);
      chmodSync(file, lstatSync(file).mode ^ 0o111);
      return '';
    },
  ],
  [
    'link',
    (world, path) => {
      rmSync(join(world.path, path), { recursive: true, force: true });
      if (!existsSync(dirname(join(world.path, path)))) return ' (no)';
      symlinkSync('text.txt', join(world.path, path));
      return '';
    },
  ],
  [
    'folder',
    (world, path) => {
      rmSync(join(world.path, path), { recursive: true, force: true });
      put(world, `${path}/inner.txt`, TEXT);
      return '';
    },
  ],
  [
    'new',
    (world, path, random) => (
      put(world, `new/${random.below(5)} ${path.replaceAll('/', ' ')}`, editedFor(path, random)),
      ''
    ),
  ],
  [
    'intend',
    (world, _path, random) => {
      const name = `intended ${random.below(3)}.txt`;
      put(world, name, edited(random));
      return quietly(world, 'add', '-N', '--', name);
    },
  ],
  ['move', (world, path, random) => quietly(world, 'mv', '--', path, `moved ${random.below(5)}`)],
  ['module', (world) => quietly(world, 'update-index', '--cacheinfo', `160000,${'1'.repeat(40)},module`)],
];

/** A new content: .gitattributes stays valid, and a filtered file gets a text that the filter does not change. */
function editedFor(path: string, random: Random): string | Buffer {
  if (path.endsWith('.filtered')) return `quiet ${random.below(99)}\n`;
  return path === '.gitattributes' ? `${ATTRIBUTES}# ${random.below(99)}\n` : edited(random);
}

/** Everything that git and the disk say about the changes. */
export function fingerprint(world: TestRepository): string {
  const status = world.git(['status', '--porcelain=v2', '-z', '--no-renames', '--untracked-files=all']);
  const staged = world.git(['ls-files', '--stage', '-z']);
  const paths = [...new Set(status.split('\0').map(pathOf))].filter(Boolean).sort();
  const disk = paths.map((path) => {
    const file = join(world.path, path);
    const stat = lstatOf(file);
    if (stat === undefined) return `${path}: nothing`;
    if (stat.isSymbolicLink()) return `${path}: link ${readlinkSync(file)}`;
    if (!stat.isFile()) return `${path}: no file`;
    const digest = createHash('sha1').update(readFileSync(file)).digest('hex');
    return `${path}: ${(stat.mode & 0o111).toString(8)} ${digest}`;
  });
  return [status.split('\0').sort().join('\n'), staged.split('\0').join('\n'), ...disk].join('\n');
}

/** The path in a line of git-status(1), porcelain format version 2. */
function pathOf(line: string): string {
  if (line.startsWith('? ')) return line.slice(2);
  return /^1 (?:\S+ ){7}([^]*)$/.exec(line)?.[1] ?? '';
}
