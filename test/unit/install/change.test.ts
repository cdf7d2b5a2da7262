import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesBefore, fileReceipt } from '../../../src/install/changes.ts';

const FILE = { path: '/x', role: 'settings', existed: true } as const;
const bytes = fc.array(fc.constantFrom(97, 98, 10), { maxLength: 12 }).map((values) => Buffer.from(values));

describe('fileReceipt and bytesBefore', () => {
  it('restore the former bytes for any two texts', () => {
    fc.assert(
      fc.property(bytes, bytes, (before, after) => {
        const receipt = fileReceipt(FILE, before, after);
        expect(bytesBefore(receipt, after)).toEqual(before);
        expect(bytesBefore(receipt, before)).toEqual(before);
      }),
    );
  });

  it('detect a file that somebody else changed', () => {
    const receipt = fileReceipt(FILE, Buffer.from('a'), Buffer.from('ab'));
    expect(bytesBefore(receipt, Buffer.from('abc'))).toBeUndefined();
  });

  it('record only what differs, because settings may hold secrets', () => {
    const receipt = fileReceipt(
      FILE,
      Buffer.from('{"token":"s3cret"}'),
      Buffer.from('{"token":"s3cret","hooks":1}'),
    );
    expect(receipt).toMatchObject({ at: 17, removed: '', added: 10 });
  });
});
