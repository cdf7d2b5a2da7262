import { describe, expect, it } from 'vitest';
import { parseReceivedRefs, receivedRef } from '../../src/git/push-range.ts';

const [OLD, NEW, ZERO] = ['a'.repeat(40), 'b'.repeat(40), '0'.repeat(40)];
const WIDE = 'c'.repeat(64);

describe('the lines of pre-receive', () => {
  it('name the old value, the new value and the ref', () => {
    const text = `${OLD} ${NEW} refs/heads/main\n${ZERO} ${NEW} refs/tags/v1\n${OLD} ${ZERO} refs/heads/ö\n`;
    expect(parseReceivedRefs(text)).toEqual([
      { localRef: 'refs/heads/main', local: NEW, remoteRef: 'refs/heads/main', remote: OLD },
      { localRef: 'refs/tags/v1', local: NEW, remoteRef: 'refs/tags/v1', remote: undefined },
      { localRef: 'refs/heads/ö', local: undefined, remoteRef: 'refs/heads/ö', remote: OLD },
    ]);
  });

  it('may lack the last line feed, and have sha256 names', () => {
    expect(parseReceivedRefs(`${'0'.repeat(64)} ${WIDE} refs/heads/x`)).toMatchObject([
      { local: WIDE, remote: undefined },
    ]);
  });

  it.each([
    '',
    '\n',
    'nonsense',
    `${OLD} ${NEW}`,
    `${OLD} ${NEW} `,
    `${OLD} ${NEW} main`,
    `${OLD} ${NEW} refs/`,
    `${OLD} ${NEW} refs/heads/a b`,
    `${OLD.slice(1)} ${NEW} refs/heads/main`,
    `${OLD} ${NEW.toUpperCase()} refs/heads/main`,
    `refs/heads/main ${OLD} ${NEW}`,
    `${OLD} ${NEW} refs/heads/main\r`,
    `${OLD} ${NEW} refs/heads/main\nmore`,
  ])('are refused whole when one cannot be read: %j', (text) => {
    expect(() => parseReceivedRefs(text)).toThrow(/expected lines "<old> <new> <ref>"/);
  });
});

describe('the words of update', () => {
  it('have another order', () => {
    expect(receivedRef('refs/heads/main', OLD, ZERO)).toMatchObject({ local: undefined, remote: OLD });
    expect(() => receivedRef(OLD, NEW, 'refs/heads/main')).toThrow(/expected lines/);
  });
});
