import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BranchName,
  type Topic,
  parseBranchName,
  parseSessionId,
  parseTopic,
} from '../../src/domain/names.ts';
import {
  HANDOFFS,
  decodeBranch,
  encodeBranch,
  handoffPath,
  handoffRef,
  keptRef,
  lostRef,
  parseLiveRef,
  parsePath,
} from '../../src/git/namespace.ts';
import { hostileNames } from '../support/hostile-cases.ts';

const topic = 'auth-refresh' as Topic;
const branch = (text: string) => text as BranchName;
const size = (text: string) => Buffer.byteLength(text);

/** Branch names with many characters that need encoding, and long ones. */
const branches = fc
  .array(
    fc.oneof(fc.constantFrom('%', '/', '2F', '25', '%-', '%2F', 'ä', '漢', '😀', "'", '-'), fc.string()),
    {
      maxLength: 60,
    },
  )
  .map((parts) => parseBranchName(parts.join('')))
  .filter((name) => name !== undefined);

describe('the ref component of a branch', () => {
  it('is one component, short enough for a file name, and legal in a ref', () => {
    fc.assert(
      fc.property(branches, (name) => {
        const component = encodeBranch(name);
        expect(component).not.toContain('/');
        expect(size(component)).toBeLessThanOrEqual(200);
        expect(parseBranchName(`x${component}`)).toBeDefined();
      }),
    );
  });

  it('differs for different branches, even long ones', () => {
    fc.assert(
      fc.property(branches, branches, (a, b) => {
        expect(encodeBranch(a) === encodeBranch(b)).toBe(a === b);
      }),
    );
    const long = 'x'.repeat(220);
    expect(encodeBranch(branch(`${long}a`))).not.toBe(encodeBranch(branch(`${long}b`)));
  });

  it('can be turned back into the name, unless it had to be cut', () => {
    fc.assert(
      fc.property(branches, (name) => {
        const component = encodeBranch(name);
        expect(decodeBranch(component)).toBe(component.includes('%-') ? undefined : name);
      }),
    );
  });

  it('is cut only above 200 bytes, and never within a character', () => {
    expect(encodeBranch(branch('x'.repeat(200)))).toBe('x'.repeat(200));
    expect(encodeBranch(branch('x'.repeat(201)))).toMatch(/^x{150}%-[0-9a-f]{12}$/);
    expect(encodeBranch(branch('漢'.repeat(100)))).toMatch(/^漢{50}%-[0-9a-f]{12}$/);
    expect(encodeBranch(branch(`x${'漢'.repeat(100)}`))).toMatch(/^x漢{49}%-[0-9a-f]{12}$/);
  });

  it('is not read in a spelling that we would not write', () => {
    for (const component of ['a%2fb', 'a%41', 'a%', '%', 'a%2F', 'x%-000000000000']) {
      expect(decodeBranch(component)).toBeUndefined();
    }
  });

  it.each(hostileNames('branch').filter((one) => one.expect !== 'reject'))(
    '$id round trip: $why',
    ({ value }) => {
      expect(decodeBranch(encodeBranch(branch(value)))).toBe(value);
    },
  );
});

describe('a hostile name', () => {
  const readers = { topic: parseTopic, branch: parseBranchName, session_id: parseSessionId };
  const kinds = ['topic', 'branch', 'session_id'] as const;

  it.each(kinds.flatMap((kind) => hostileNames(kind)).filter((one) => one.expect === 'reject'))(
    '$id is no $kind: $why',
    ({ kind, value }) => {
      expect(readers[kind](value)).toBeUndefined();
    },
  );
});

describe('a topic', () => {
  it.each(['auth', 'api', 'oauth2', 'search-index', 'fix-login', 'tokenrefresh'])('is %j', (text) => {
    expect(parseTopic(text)).toBe(text);
  });

  it.each([
    ...['fix', 'wip', 'main', 'todo', 'handoff', 'nul', 'com1', 'a1f0c3d2', '1c392df'],
    ...['ab', '42', 'Auth', 'x'.repeat(31), 'fix-test', 'auth-', ''],
  ])('is not %j, which says nothing', (text) => {
    expect(parseTopic(text)).toBeUndefined();
  });
});

describe('refs', () => {
  it('of the branches `a` and `a/b` never exclude each other', () => {
    fc.assert(
      fc.property(branches, branches, (a, b) => {
        const [one, other] = [a, b].map((name) => handoffRef(handoffPath(name, topic)));
        expect(one!.startsWith(`${other}/`)).toBe(false);
      }),
    );
    const twin = handoffRef(handoffPath(branch('feature/auth-refresh'), topic));
    expect(twin.startsWith(`${handoffRef(handoffPath(branch('feature'), topic))}/`)).toBe(false);
  });

  it('have the places in the architecture’s table', () => {
    const path = handoffPath(branch('feature/x'), topic);
    expect(handoffRef(path)).toBe('refs/handoffs/feature%2Fx/auth-refresh');
    expect(keptRef(path)).toBe('refs/handoffs-local/kept/feature%2Fx/auth-refresh');
    expect(lostRef(path, 3)).toBe('refs/handoffs-local/lost/feature%2Fx/auth-refresh/3');
  });

  it('can be read back, and foreign ones are not mistaken for ours', () => {
    const path = handoffPath(branch('feature/x'), topic);
    expect(parsePath(handoffRef(path), HANDOFFS)).toEqual(path);
    for (const ref of [
      'refs/heads/main',
      'refs/handoffs/main',
      'refs/handoffs/main/fix',
      'refs/handoffs/a/b-c/d',
    ]) {
      expect(parsePath(ref, HANDOFFS)).toBeUndefined();
    }
    expect(parseLiveRef('refs/handoffs-local/live/0123/s-1')).toEqual({ worktreeId: '0123', session: 's-1' });
    expect(parseLiveRef('refs/handoffs-local/live/0123/s-1/x')).toBeUndefined();
    expect(parseLiveRef('refs/handoffs-local/kept/0123/s-1')).toBeUndefined();
  });
});
