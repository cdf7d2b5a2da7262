import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, C, SharingWorld, refusal, contextText } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld();
});
afterEach(() => world.remove());

describe('what an earlier version has stored', () => {
  /** A clone as version 0.1.0 left it, with nothing in journals. */
  function older(): { readonly tree: string; readonly put: (name: string, ...lines: string[]) => void } {
    world.begin(A);
    world.begin(B);
    const tree = readFileSync(join(world.path, '.git', 'handoff-id'), 'utf8').trim();
    const put = (name: string, ...lines: string[]) => {
      const file = join(world.path, '.git', 'handoff', name);
      mkdirSync(join(file, '..'), { recursive: true });
      writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
    };
    return { tree, put };
  }
  const blobOf = (path: string) => world.git(['hash-object', path]);
  const state = (oid: string) => ({ mode: '100644', oid });
  const claim = (path: string) => {
    const [base, after] = [world.git(['rev-parse', `HEAD:${path}`]), blobOf(path)].map(state);
    const all = { base, before: base, after, evidence: 'explicit', weak: false };
    return JSON.stringify({ t: 'claim', path, ...all, at: Date.now() });
  };

  it('is in the journals: claims, requests, news, what was heard, notes that are due, operations, stashes', () => {
    const { tree, put } = older();
    writeFileSync(join(world.path, 'src/a.ts'), 'of A\n');
    put(`ledger/${tree}/${A}.jsonl`, '{"compacted":10}', claim('src/a.ts'), '{"t":"claim","path":"torn');
    put(
      `ledger/${tree}/${B}.jsonl`,
      JSON.stringify({ t: 'request', to: A, wish: 'edit', paths: ['src/a.ts'], at: Date.now() + 5 }),
      '{"t":"event","id":"e","text":"B switched this working tree.","at":1}',
      '{"t":"told","ids":["heard"],"at":1}',
      '{"t":"window","id":"w","from":1,"at":2}',
    );
    put(`ledger/${tree}/last`, 'no look');
    put(`late/${tree}.${C}`, '');
    put(`noted/${tree}.${B}.12.7`, '');
    put(`told/${A}/x`, '');
    put('stashes', `${world.git(['rev-parse', 'HEAD'])} ${A}`, 'torn');
    writeFileSync(join(world.path, '.git', 'handoff-operation'), `${A} MERGE_HEAD:1:2 -\n`);
    expect(refusal(world.try(B, 'src/a.ts', 'of B\n'))).toContain('claude aaaaaaaa changed it');
    expect(world.whose()).toEqual({ 'src/a.ts': `other ${A}` });
    const kindsOf = (session: string) => world.ledger(session).map(({ t }) => t);
    expect(kindsOf(A)).toEqual(expect.arrayContaining(['claim', 'operation', 'stashed', 'migrated']));
    expect(kindsOf(B)).toEqual(
      expect.arrayContaining(['request', 'news', 'notified', 'command-end', 'note-left']),
    );
    expect(kindsOf(C)).toContain('note-due');
    const next = contextText(world.bash(A, 'make').before);
    expect(next).toContain('B switched this working tree.');
    expect(existsSync(join(world.path, '.git', 'handoff', 'ledger'))).toBe(false);
    expect(existsSync(join(world.path, '.git', 'handoff-operation'))).toBe(false);
    world.begin(C);
    expect(existsSync(join(world.path, '.git', 'handoff', 'told'))).toBe(false);
  });

  it('is put there once, even if the first migration was cut off before the old files were gone', () => {
    const { tree, put } = older();
    writeFileSync(join(world.path, 'src/a.ts'), 'of A\n');
    const line = claim('src/a.ts');
    put(`ledger/${tree}/${A}.jsonl`, line);
    world.whose();
    put(`ledger/${tree}/${A}.jsonl`, line);
    world.whose();
    expect(world.ledger(A).filter(({ t }) => t === 'claim')).toHaveLength(1);
  });

  it('still counts if an older build that runs here adds to it afterwards', () => {
    const { tree, put } = older();
    writeFileSync(join(world.path, 'src/a.ts'), 'of A\n');
    put(`ledger/${tree}/${A}.jsonl`, claim('src/a.ts'));
    refusal(world.try(B, 'src/a.ts', 'of B\n'));
    writeFileSync(join(world.path, 'src/b.ts'), 'of A\n');
    put(`ledger/${tree}/${A}.jsonl`, claim('src/b.ts'));
    expect(refusal(world.try(B, 'src/b.ts', 'of B\n'))).toContain('claude aaaaaaaa changed it');
  });

  it('is, for a session that works alone, its start list', () => {
    world.begin(A);
    const tree = readFileSync(join(world.path, '.git', 'handoff-id'), 'utf8').trim();
    const { look } = world.ledger(A).find(({ t }) => t === 'alone') ?? {};
    const folder = join(world.path, '.git', 'handoff', 'ledger', tree, 'start');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, A), String(look));
    writeFileSync(world.journal(A), '');
    world.bash(A, 'echo more >src/a.ts');
    world.begin(B);
    expect(refusal(world.try(B, 'src/a.ts', 'of B\n'))).toContain('claude aaaaaaaa');
  });
});
