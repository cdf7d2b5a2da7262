import { describe, expect, it } from 'vitest';
import type { FileState } from '../../../src/domain/ledger/tree-status.ts';
import { type Finishing, isOfOperation } from '../../../src/changes/operations.ts';
import { blob } from './facts.ts';

const HEAD = blob(1);
const staged = (index: FileState) => ({ path: 'f', head: HEAD, index });
const facts = (more: Partial<Finishing>): Finishing => ({
  made: new Map([['f', [blob(2)]]]),
  merged: undefined,
  resolved: new Set(),
  ...more,
});
const merged = new Map<string, FileState>([['f', blob(3)]]);

describe('whether an operation has staged a path by itself', () => {
  it.each<[string, FileState, Partial<Finishing>, boolean]>([
    ['what its head has', blob(2), {}, true],
    ['what one of several heads has', blob(4), { made: new Map([['f', [blob(2), blob(4)]]]) }, true],
    ['a deletion that it makes', null, { made: new Map([['f', [null]]]) }, true],
    ['a mode that it gives', blob(1, '100755'), { made: new Map([['f', [blob(1, '100755')]]]) }, true],
    ['another content', blob(5), {}, false],
    ['another mode', blob(2, '100755'), {}, false],
    ['what git merged for it', blob(3), { merged }, true],
    ['a head’s content where git merged another', blob(2), { merged }, false],
    ['a head’s content where git is known to have merged nothing', blob(2), { merged: new Map() }, true],
    ['a path that was in conflict, whatever it is now', blob(9), { resolved: new Set(['f']) }, true],
    ['a path that its commits do not change', blob(3), { made: new Map(), merged }, false],
  ])('%s', (_, index, more, expected) => {
    expect(isOfOperation(staged(index), facts(more))).toBe(expected);
  });
});
