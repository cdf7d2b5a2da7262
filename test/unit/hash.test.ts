import { expect, it } from 'vitest';
import { objectName } from '../../src/git/hash.ts';

it('the name of an object is the same as git’s, in both formats', () => {
  expect(objectName('sha1', 'blob', Buffer.from('hello\n'))).toBe('ce013625030ba8dba906f756967f9e9ca394464a');
  expect(objectName('sha1', 'tree', Buffer.alloc(0))).toBe('4b825dc642cb6eb9a060e54bf8d69288fbee4904');
  expect(objectName('sha256', 'blob', Buffer.alloc(0))).toBe(
    '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813',
  );
});
