import { existsSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, C, SharingWorld, refusal } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
});
afterEach(() => world.remove());

const journalOf = (session: string) => world.journal(session);

describe('the journal’s file', () => {
  it('loses nothing when many hooks of one session append while it is rewritten', async () => {
    // Long enough that every append rewrites the journal.
    const told = JSON.stringify({ t: 'news', tree: 'x', id: 'x', text: 'y'.repeat(2000), at: 1 });
    writeFileSync(journalOf(B), `${told}\n`.repeat(80));
    const names = Array.from({ length: 12 }, (_, n) => `f${n}.txt`);
    for (const name of names) writeFileSync(join(world.path, name), `${name}\n`);
    const calls = names.map((name) => {
      const input = JSON.stringify({
        session_id: B,
        hook_event_name: 'PostToolUse',
        tool_name: 'Write',
        tool_input: { file_path: join(world.path, name), content: 'x' },
        cwd: world.path,
      });
      return world.handoffBeside(['guard', '--client', 'claude'], { input, session: B });
    });
    await Promise.all(calls);
    expect(world.claimed(B)).toEqual([...names].sort());
    expect(readFileSync(journalOf(B), 'utf8').length).toBeLessThan(100_000);
  });

  it('may be torn by a crash; the next entry is whole', () => {
    world.write(B, 'src/b.ts', 'x\n');
    const file = journalOf(B);
    writeFileSync(file, readFileSync(file, 'utf8') + '{"t":"claim","path":"torn');
    world.write(B, 'new.txt', 'x\n');
    expect(refusal(world.write(A, 'new.txt', 'y\n'))).toContain('claude bbbbbbbb');
    expect(refusal(world.write(A, 'src/b.ts', 'y\n'))).toContain('claude bbbbbbbb');
  });

  it('may be nonsense, which stops nobody', () => {
    world.write(B, 'src/b.ts', 'x\n');
    writeFileSync(journalOf(B), '\u0000\u0001[]{"t":3}\nnull\n');
    expect(world.write(A, 'src/b.ts', 'y\n').kind).toBe('silent');
  });
});

describe('ten thousand claims', () => {
  it('leave no loose objects in the repository, and nothing for gc to do', () => {
    // In a copied world, sessions are recorded again when they start. Their other calls record them only after a minute.
    for (const session of [A, B]) world.begin(session);
    const count = world.git(['count-objects']);
    const command = `node -e "const fs=require('fs');fs.mkdirSync('many');for(let n=0;n<10000;n++)fs.writeFileSync('many/'+n,'x'+n)"`;
    expect(world.bash(B, command).run).toMatchObject({ status: 0 });
    expect(world.claimed(B).filter((path) => path.startsWith('many/'))).toHaveLength(10_000);
    expect(refusal(world.write(A, 'many/9999', 'y\n'))).toContain('claude bbbbbbbb');
    expect(world.git(['count-objects'])).toBe(count);
    expect(world.run('git', ['gc', '--auto'])).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(world.bash(B, 'git add many && git commit -qm many').run).toMatchObject({ status: 0 });
    expect(world.write(A, 'many/9999', 'y\n').kind).toBe('silent');
  });
});

describe('contents of uncommitted files', () => {
  it('are kept as long as a claim refers to them, however old, and removed when none does', () => {
    // This is the content before the claim: no later look at the working tree could store it again.
    writeFileSync(join(world.path, 'src/a.ts'), 'by hand\n');
    world.write(A, 'src/a.ts', 'one\n');
    const objects = join(world.path, '.git', 'handoff', 'objects');
    const nobodys = { input: 'claimed by nobody\n', env: { GIT_OBJECT_DIRECTORY: objects } };
    const files = [
      world.git(['hash-object', '--stdin'], { input: 'by hand\n' }),
      world.git(['hash-object', '-w', '--stdin'], nobodys),
    ].map((name) => join(objects, name.slice(0, 2), name.slice(2)));
    const twoHoursAgo = Date.now() / 1000 - 7200;
    for (const name of readdirSync(objects, { recursive: true, encoding: 'utf8' }))
      utimesSync(join(objects, name), twoHoursAgo, twoHoursAgo);
    world.begin(C);
    expect(files.map((file) => existsSync(file))).toEqual([true, false]);
  });
});

describe('a session that is over', () => {
  it('leaves its claims on record, but nothing about its calls', () => {
    world.write(B, 'src/b.ts', 'x\n');
    world.may(B, 'make');
    world.end(B);
    const ends = world.ledger(B).filter(({ t }) => t === 'command' || t === 'command-end');
    expect(ends.map(({ t }) => t)).toEqual(['command', 'command-end']);
    expect(world.claimed(B)).toEqual(['src/b.ts']);
    expect(world.write(A, 'src/b.ts', 'y\n').kind).not.toBe('deny');
  });
});
