import { describe, expect, it } from 'vitest';
import { analyseShell } from '../../../src/shell/analyse.ts';
import { type HostileCase, hostileCases } from '../../support/hostile-cases.ts';
import { CWD, fakeWorld, filled, isHit } from './fake-world.ts';

/** The links that a case's setup makes; the analysis does not depend on other setups. */
function linksOf(setup: string | undefined): Record<string, string> {
  const links: Record<string, string> = {};
  for (const found of filled(setup ?? '').matchAll(/ln -s (\S+) (\w+)/g))
    links[`${CWD}/${found[2]}`] = found[1] ?? '';
  return links;
}

/** Cases that can be decided here only because the disk resolves their glob. */
const DECIDABLE = new Set(['BX010', 'BX011', 'BX018']);

describe('the corpus of hostile commands', () => {
  it.each(hostileCases<HostileCase>('bash.json'))(
    '$id $expect: $why',
    async ({ id, command, expect: expected, setup, cwd, owner }) => {
      const links = linksOf(setup);
      const effects = await analyseShell(filled(command), fakeWorld(links, filled(cwd ?? CWD)));
      const hit = isHit(effects, links);
      if (expected !== 'deny-or-detect') expect(hit).toBe(expected === 'deny' || owner === 'caller');
      if (DECIDABLE.has(id)) expect(hit).toBe(true);
    },
  );
});

describe('further commands of the same kinds', () => {
  const cases = hostileCases<HostileCase>('bash-more.json').filter(({ setup }) => setup === undefined);
  it.each(cases)('$groundTruth: $command', async ({ command, groundTruth }) => {
    const effects = await analyseShell(filled(command), fakeWorld());
    expect(isHit(effects)).toBe(groundTruth === 'mutates');
  });
});
