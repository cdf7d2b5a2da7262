import { expect, it } from 'vitest';
import { commitBase, configure, fingerprint, makeDirty } from './dirty-trees.ts';
import { amount, seeded } from '../support/faults/seed.ts';
import { TestRepository } from '../support/repository.ts';

it.each(Array.from({ length: amount(4, 40) }, (_, at) => at))(
  'random changes go from one clone to another as they are, or are refused whole, campaign %i',
  (at) =>
    seeded(`carried work ${at}`, (random) => {
      const server = new TestRepository({ bare: true });
      const home = new TestRepository();
      home.git(['remote', 'add', 'origin', server.path]);
      commitBase(home, random);
      home.git(['push', '-q', '-f', 'origin', 'main']);
      const away = new TestRepository({ cloneOf: { url: server.path, words: ['--no-local'] } });
      configure(away);
      const figures = { carried: 0, refused: 0 };
      try {
        for (let round = 0; round < 25; round++) {
          const topic = `work-number-${round}`;
          for (const world of [home, away]) {
            world.run('git', ['rm', '-q', '-r', '--cached', '.']);
            world.git(['reset', '-q', '--hard']);
            world.git(['clean', '-q', '-ffdx']);
          }
          const said = makeDirty(home, random).join('\n');
          const before = fingerprint(home);
          const kept = home.refs().length;
          const written = home.handoff(['write', topic, '-m', 'x', '--with-work', '--', '.']);
          expect(fingerprint(home), said).toBe(before);
          if (written.status !== 0) {
            expect(written.status, `${said}\n${written.stderr}`).toBe(1);
            expect(written.stderr, said).toMatch(
              /submodule|is a repository of its own|not UTF-8|git cannot store/,
            );
            // No work is kept.
            expect(home.refs('refs/handoffs-local/work').length + kept, said).toBe(kept + figures.carried);
            figures.refused++;
            continue;
          }
          if (home.ref(`refs/handoffs/main/${topic}`) === undefined) throw new Error('no note');
          if (written.stderr.includes('carries no work')) continue;
          figures.carried++;
          home.ok(['sync', '--push', '--with-work', topic]);
          away.ok(['sync', '--fetch']);
          const trusted = ['.gitattributes', '.gitattributes/inner.txt'].flatMap((path) => ['--trust', path]);
          const unpacked = away.handoff(['unpack', topic, ...trusted]);
          expect(unpacked, `${said}\n${before}`).toMatchObject({ status: 0 });
          expect(fingerprint(away), said).toBe(before);
        }
        expect(figures.carried).toBeGreaterThan(0);
        return figures;
      } finally {
        for (const world of [server, home, away]) world.remove();
      }
    }),
);
