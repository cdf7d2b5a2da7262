import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyChanges } from '../../src/install/changes.ts';
import {
  INSTRUCTIONS_END as END,
  INSTRUCTIONS_START as START,
  withInstructions,
} from '../../src/install/instructions.ts';
import { planInit } from '../../src/install/plan-init.ts';
import { World } from './install-world.ts';

let world: World;
beforeEach(() => {
  world = new World();
  mkdirSync(join(world.home, '.local', 'state'), { recursive: true });
});
afterEach(() => world.remove());

const BOM = '\uFEFF';
const place = (name: string) => join(world.repository, name);
const read = (name: string) => readFileSync(place(name), 'utf8');
const install = (clients = ['claude']) => world.init({ instructions: true, clients });
const status = () => world.git(['status', '--porcelain']);
const starts = (text: string) => text.split(START).length - 1;

/** Commits the files of a situation, so that `git status` shows what changed. */
function given(files: Record<string, string>, links: Record<string, string> = {}): void {
  for (const [name, text] of Object.entries(files)) world.write(place(name), text);
  for (const [name, target] of Object.entries(links)) symlinkSync(target, place(name));
  world.git(['add', '-A']);
  world.commit('given');
}

interface Situation {
  readonly what: string;
  readonly files?: Record<string, string>;
  readonly links?: Record<string, string>;
  readonly clients?: string[];
  /** The files, not links, that get the block. */
  readonly written: readonly string[];
}

const MATRIX: readonly Situation[] = [
  { what: 'none, for Claude Code', written: ['CLAUDE.md'] },
  { what: 'none, for two clients', clients: ['codex', 'gemini'], written: ['AGENTS.md', 'GEMINI.md'] },
  { what: 'AGENTS.md alone', files: { 'AGENTS.md': '# A\n' }, written: ['AGENTS.md'] },
  { what: 'CLAUDE.md alone', files: { 'CLAUDE.md': '# C\n' }, clients: ['codex'], written: ['CLAUDE.md'] },
  { what: 'two', files: { 'AGENTS.md': '# A\n', 'CLAUDE.md': '# C\n' }, written: ['AGENTS.md', 'CLAUDE.md'] },
  {
    what: 'all three',
    files: { 'AGENTS.md': '', 'CLAUDE.md': '\n', 'GEMINI.md': 'g' },
    written: ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md'],
  },
  {
    what: 'CLAUDE.md a link to AGENTS.md',
    files: { 'AGENTS.md': '# A\n' },
    links: { 'CLAUDE.md': 'AGENTS.md' },
    written: ['AGENTS.md'],
  },
  {
    what: 'AGENTS.md and GEMINI.md links to CLAUDE.md',
    files: { 'CLAUDE.md': '# C\n' },
    links: { 'AGENTS.md': './CLAUDE.md', 'GEMINI.md': 'AGENTS.md' },
    written: ['CLAUDE.md'],
  },
  {
    what: 'both links to a file deeper in the tree',
    files: { 'docs/agents.md': '# D\n' },
    links: { 'AGENTS.md': 'docs/agents.md', 'CLAUDE.md': 'docs/agents.md' },
    written: ['docs/agents.md'],
  },
  {
    what: 'CLAUDE.md that imports AGENTS.md',
    files: { 'AGENTS.md': '# A\n', 'CLAUDE.md': '# C\n\n@AGENTS.md\n' },
    written: ['AGENTS.md'],
  },
  { what: 'an import of nothing', files: { 'CLAUDE.md': '@AGENTS.md\n' }, written: ['CLAUDE.md'] },
  { what: 'CRLF', files: { 'AGENTS.md': '# A\r\n\r\nb\r\n' }, written: ['AGENTS.md'] },
  { what: 'CRLF without a final newline', files: { 'AGENTS.md': '# A\r\nb' }, written: ['AGENTS.md'] },
  { what: 'no final newline', files: { 'AGENTS.md': '# A' }, written: ['AGENTS.md'] },
  { what: 'a byte order mark', files: { 'AGENTS.md': `${BOM}# A\n` }, written: ['AGENTS.md'] },
  { what: 'a byte order mark alone', files: { 'AGENTS.md': BOM }, written: ['AGENTS.md'] },
];

describe('init --instructions', () => {
  it.each(MATRIX)('$what: $written, once, and back to the byte', async (situation) => {
    given(situation.files ?? {}, situation.links);
    const before = world.snapshot();
    const first = await install(situation.clients);
    const after = world.snapshot();
    expect(first.plan).toContain(START);
    for (const name of situation.written) {
      const former = situation.files?.[name] ?? '';
      expect(starts(read(name))).toBe(1);
      expect(read(name).startsWith(former)).toBe(true);
      expect(/\n$/.test(read(name))).toBe(former.replace(BOM, '') === '' || former.endsWith('\n'));
      expect(/[^\r]\n/.test(read(name))).toBe(!former.includes('\r\n'));
    }
    const changed = status()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.slice(3));
    expect(changed.sort()).toEqual([...situation.written].sort());
    for (const again of [1, 2]) {
      expect([again, (await install(situation.clients)).outcome]).toEqual([again, 'unchanged']);
    }
    expect(world.snapshot()).toEqual(after);
    await world.uninstall();
    expect(world.snapshot()).toEqual(before);
    expect(status()).toBe('');
  });

  it.each(MATRIX)(
    '$what: removed from files that somebody has edited since',
    async ({ files, links, clients, written }) => {
      given(files ?? {}, links);
      await install(clients);
      for (const name of written) writeFileSync(place(name), `mine\n${read(name).replace(BOM, '')}`);
      await world.uninstall();
      for (const name of written) {
        expect(read(name)).toBe(`mine\n${(files?.[name] ?? '').replace(BOM, '')}`);
      }
    },
  );

  it('without the option, nothing is written into the project', async () => {
    given({ 'AGENTS.md': '# A\n' });
    await world.init();
    expect(status()).toBe('');
  });

  it('replaces an earlier version', async () => {
    const old = `# A\n\n${START}\nolder lines\n${END}\n\n# B\n`;
    given({ 'AGENTS.md': old });
    await install();
    expect(read('AGENTS.md')).toBe(withInstructions(old));
    expect(read('AGENTS.md')).toMatch(/^# A\n\n[^]+\n\n# B\n$/);
    expect(read('AGENTS.md')).not.toContain('older lines');
    await world.uninstall();
    // uninstall restores the older block, because the project had it before init.
    expect(read('AGENTS.md')).toBe(old);
  });

  it('keeps a moved block where it is, even in another file', async () => {
    given({ 'AGENTS.md': '# A\n', 'CLAUDE.md': '@AGENTS.md\n' });
    await install();
    const block = read('AGENTS.md').slice('# A\n\n'.length);
    writeFileSync(place('AGENTS.md'), `${block}\n# A\n`);
    expect((await install()).outcome).toBe('unchanged');
    renameSync(place('AGENTS.md'), place('GEMINI.md'));
    await world.uninstall();
    expect(read('GEMINI.md')).toBe('\n# A\n');
  });

  it('keeps the mode of a file', async () => {
    given({ 'AGENTS.md': '# A\n' });
    chmodSync(place('AGENTS.md'), 0o640);
    await install();
    expect(statSync(place('AGENTS.md')).mode & 0o777).toBe(0o640);
    await world.uninstall();
    expect(statSync(place('AGENTS.md')).mode & 0o777).toBe(0o640);
  });

  it('keeps the project’s own block when one user uninstalls', async () => {
    given({ 'AGENTS.md': withInstructions('# A\n') });
    await install();
    await world.uninstall();
    expect(status()).toBe('');
  });

  it('keeps the project’s own block beside one that we wrote', async () => {
    given({ 'AGENTS.md': withInstructions('# A\n'), 'CLAUDE.md': '# C\n' });
    await install();
    expect(status()).toBe(' M CLAUDE.md\n');
    await world.uninstall();
    expect(status()).toBe('');
  });

  it('changes nothing after the answer no, and shows the lines in the plan', async () => {
    given({ 'AGENTS.md': '# A\n' });
    const before = world.snapshot();
    const confirm = () => Promise.resolve(false);
    const { plan } = await world.init({ instructions: true, yes: false }, undefined, { confirm });
    expect(plan).toContain(`+++ ${place('AGENTS.md')}\n@@ -1,0 +2,`);
    expect(world.snapshot()).toEqual(before);
  });

  it('tells users of a client that reads another file how to get the same text', async () => {
    given({ 'AGENTS.md': '# A\n' });
    const { notices } = await install(['claude', 'codex']);
    const said = notices.filter((line) => line.includes('to give it the same text'));
    expect(said).toEqual([
      'claude reads CLAUDE.md, which is not here; to give it the same text: ln -s AGENTS.md CLAUDE.md',
    ]);
    world.shell(`cd '${world.repository}' && ${said[0]?.split(': ')[1] ?? ''}`);
    expect(read('CLAUDE.md')).toContain(START);
    expect((await install(['claude'])).notices.join()).not.toContain('the same text');
  });

  it('names the file itself, not a link to it', async () => {
    given({ 'AGENTS.md': '# A\n' }, { 'CLAUDE.md': 'AGENTS.md' });
    expect((await install(['gemini'])).notices.join()).toContain('ln -s AGENTS.md GEMINI.md');
  });

  it('needs a working tree', async () => {
    const bare = join(world.root, 'bare.git');
    world.git(['init', '-q', '--bare', bare], world.root);
    await expect(world.init({ instructions: true }, bare)).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('a file that init --instructions leaves alone, with a notice', () => {
  const left = async (name: string, reason: string) => {
    const before = existsSync(place(name)) && statSync(place(name)).isFile() ? read(name) : undefined;
    const { notices } = await install();
    expect(notices.filter((line) => line.startsWith(place(name))).join()).toContain(reason);
    if (before !== undefined) expect(read(name)).toBe(before);
    await world.uninstall();
    if (before !== undefined) expect(read(name)).toBe(before);
    expect(status()).toBe('');
  };

  it.each([
    ['a start without an end', `# A\n${START}\nx\n`],
    ['an end without a start', `# A\n${END}\n`],
    ['two blocks', withInstructions('# A\n') + withInstructions('')],
    ['an end before its start', `${END}\n${START}\n`],
  ])('%s', async (_, text) => {
    given({ 'AGENTS.md': text, 'CLAUDE.md': '@AGENTS.md\n' });
    await left('AGENTS.md', 'damaged');
  });

  it('a block that was damaged later, by init and by uninstall', async () => {
    given({ 'AGENTS.md': '# A\n' });
    await install();
    const text = read('AGENTS.md').replace(`${END}\n`, '');
    writeFileSync(place('AGENTS.md'), text);
    expect((await install()).notices.join()).toContain('damaged');
    expect((await world.uninstall()).notices.join()).toContain(`${place('AGENTS.md')}: our block is damaged`);
    expect(read('AGENTS.md')).toBe(text);
  });

  it('a link out of the working tree', async () => {
    world.write(join(world.root, 'shared.md'), '# shared\n');
    given({ 'CLAUDE.md': '# C\n' }, { 'AGENTS.md': '../../shared.md' });
    await left('AGENTS.md', 'leads out of the working tree');
    expect(readFileSync(join(world.root, 'shared.md'), 'utf8')).toBe('# shared\n');
  });

  it('a link into the git folder', async () => {
    given({}, { 'AGENTS.md': '.git/description' });
    await left('AGENTS.md', 'leads out of the working tree');
  });

  it('a link that leads nowhere', async () => {
    given({}, { 'CLAUDE.md': 'AGENTS.md' });
    await left('CLAUDE.md', 'leads nowhere');
    expect(existsSync(place('AGENTS.md'))).toBe(false);
  });

  it('a folder', async () => {
    given({ 'AGENTS.md/x': '' });
    await left('AGENTS.md', 'not a file');
  });

  it('UTF-16', async () => {
    given({ 'AGENTS.md': Buffer.from('\uFEFF# A\n', 'utf16le').toString('latin1') });
    await left('AGENTS.md', 'not UTF-8');
  });

  it('a file that later became a link out of the tree', async () => {
    given({ 'AGENTS.md': '# A\n' });
    await install();
    const elsewhere = join(world.root, 'mine.md');
    renameSync(place('AGENTS.md'), elsewhere);
    symlinkSync(elsewhere, place('AGENTS.md'));
    const text = readFileSync(elsewhere, 'utf8');
    await world.uninstall();
    expect(readFileSync(elsewhere, 'utf8')).toBe(text);
    expect(readlinkSync(place('AGENTS.md'))).toBe(elsewhere);
  });

  it('a file that later became a folder, or disappeared', async () => {
    given({ 'AGENTS.md': '# A\n', 'CLAUDE.md': '# C\n' });
    await install();
    rmSync(place('CLAUDE.md'));
    rmSync(place('AGENTS.md'));
    mkdirSync(place('AGENTS.md'));
    await world.uninstall();
    expect(lstatSync(place('AGENTS.md')).isDirectory()).toBe(true);
    expect(existsSync(place('CLAUDE.md'))).toBe(false);
  });
});

describe('interrupted after any step', () => {
  it('init --instructions --skill can be uninstalled to the byte, or run again', async () => {
    const skill = join(world.packageRoot, 'skills', 'git-handoff', 'SKILL.md');
    world.write(skill, 'skill\n');
    given({ 'AGENTS.md': '# A' });
    const before = world.snapshot();
    const plan = async () => {
      const texts = { instructions: true, skill: true };
      const goal = { clients: ['claude'], scope: 'user', ...texts } as const;
      return (await planInit(world.context(), goal)).changes;
    };
    const steps = (await plan()).length;
    for (let done = 0; done <= steps; done++) {
      await applyChanges((await plan()).slice(0, done));
      if (done % 2 === 0) await world.init({ instructions: true, skill: true });
      await world.uninstall();
      expect(world.snapshot()).toEqual(before);
    }
  });
});

it('init --instructions creates AGENTS.md if no client is chosen and no file is there', async () => {
  const own = new World();
  try {
    const { changed } = await own.init({ clients: ['none'], instructions: true });
    expect(changed).toContain(join(own.repository, 'AGENTS.md'));
  } finally {
    own.remove();
  }
});
