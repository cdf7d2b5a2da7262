import { describe, expect, it } from 'vitest';
import { asFailure, Failure } from '../../src/domain/messages.ts';

const systemError = (code: string) =>
  Object.assign(new Error(`${code}: what the system says, open 'a'`), { code, syscall: 'open' });

describe('a thrown value', () => {
  it.each([
    ['ENOSPC', /disk space/],
    ['EDQUOT', /disk space/],
    ['EROFS', /writable/],
    ['EACCES', /writable/],
    ['EPERM', /writable/],
    ['EIO', /disk errors/],
  ])('is no fault of ours when the system says %s', (code, hint) => {
    expect(asFailure(systemError(code))).toMatchObject({
      code: 'environment',
      message: `${code}: what the system says, open 'a'`,
      hint: expect.stringMatching(hint) as string,
    });
  });

  it.each([[systemError('ENOENT')], [new TypeError('x is not a function')], ['a text']])(
    'is our own fault otherwise: %s',
    (error) => {
      const failure = asFailure(error);
      expect(failure).toMatchObject({ code: 'internal', hint: undefined, cause: error });
      expect(failure.message).toContain('please report it');
    },
  );

  it('stays as it is if it is already a Failure', () => {
    const failure = new Failure('refused', 'no');
    expect(asFailure(failure)).toBe(failure);
  });
});
