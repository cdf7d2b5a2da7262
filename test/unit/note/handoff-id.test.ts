import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { splitNote } from '../../../src/domain/note/sections.ts';
import {
  formatFrontMatter,
  type FrontMatter,
  readFrontMatter,
} from '../../../src/domain/note/front-matter.ts';
import { canonicalJson, canonicalNote, handoffId } from '../../../src/domain/note/handoff-id.ts';

const NOW = Date.parse('2026-05-08T00:00:00Z');
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const FIELDS: FrontMatter = {
  schema_version: '1.0',
  handoff_id: undefined,
  from: 'alice',
  to: 'bob',
  topic: 'retry-policy',
  ts_utc: '2026-05-07T12:00:00Z',
  references: [],
  tags: [],
};
const id = (body: string, fields: Partial<FrontMatter> = {}) =>
  handoffId({ ...FIELDS, ...fields }, body, sha256);

/** Ids that structured-handoff's own script computed for these documents. */
const BODY_A = 'sha256:049fa8d6ee03bdb4707b26663b2ccb138bda13ad72c58a4c3a30b656817a82b9';
const BODY = 'sha256:d3480f888d6e497e41cff55959b5caf0630e67d0da83d5318e78eba6ac59505c';
const EMPTY = 'sha256:56bb44eb8a39299ec612c3f8263c4a01d57989cbb14c5d13d1a8494adbdbd77f';
const WHOLE = 'sha256:94bdef20c4b8bf6779d77497c5610b1190487a986df26f24f6298e6d8786ec04';
const LISTS = { references: ['github.com/0xHoneyJar/loa/issues/658', 'commit:abc1234'], tags: ['bedrock'] };

describe('handoff_id', () => {
  it.each([
    ['a body', 'body A\n', BODY_A],
    ['CRLF', 'body A\r\n', BODY_A],
    ['line ends of old Macs', 'body A\r', BODY_A],
    ['CRLF in another body', 'body\r\n', BODY],
    ['blank lines before the text', '\n\n    body A\n', BODY_A],
    ['other white space before it', '\t\u00a0\u2003\u0085\u001fbody A\n', BODY_A],
    ['no body', '', EMPTY],
    ['a body of blanks', '\r\n \n', EMPTY],
  ])('of %s is that of structured-handoff', (_what, body, expected) => {
    expect(id(body)).toBe(expected);
  });

  it('covers references and tags, and its text is RFC 8785', () => {
    const body = '# Body\n\nThis is the handoff body.\n';
    expect(id(body, LISTS)).toBe(WHOLE);
    expect(canonicalNote({ ...FIELDS, ...LISTS }, body)).toBe(
      String.raw`{"body":"# Body\n\nThis is the handoff body.\n","from":"alice","references":["github.com/0xHoneyJar/loa/issues/658","commit:abc1234"],"schema_version":"1.0","tags":["bedrock"],"to":"bob","topic":"retry-policy","ts_utc":"2026-05-07T12:00:00Z"}`,
    );
  });

  it('does not cover itself, and changes with every other field', () => {
    expect(id('body A\n', { handoff_id: EMPTY })).toBe(BODY_A);
    const changes: Partial<FrontMatter>[] = [
      { from: 'x' },
      { to: 'x' },
      { topic: 'x' },
      { ts_utc: '2026-05-07T12:00:01Z' },
      { tags: ['x'] },
      { references: ['x'] },
      { schema_version: '1.1' },
    ];
    const ids = changes.map((change) => id('body A\n', change));
    expect(new Set([...ids, BODY_A, id('body A')]).size).toBe(changes.length + 2);
  });

  it.each(['\ufeffbody A\n', '\u200bbody A\n', 'body A\n\n', 'body A \n'])('distinguishes %j', (body) => {
    expect(id(body)).not.toBe(BODY_A);
  });

  it('is the same after the note was written and read back', () => {
    const fields = { ...FIELDS, ...LISTS, handoff_id: WHOLE };
    const note = `${formatFrontMatter(fields)}\n# Body\n\nThis is the handoff body.\n`;
    const { yaml, body } = splitNote(note);
    const read = readFrontMatter(yaml ?? '', NOW);
    expect(read).toEqual({ kind: 'structured', fields });
    expect(id(body, LISTS)).toBe(WHOLE);
  });
});

describe('RFC 8785', () => {
  it('3.2.2: the sample object', () => {
    const sample = {
      numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000f\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    expect(canonicalJson(sample)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  it('3.2.3: keys by their UTF-16 code units', () => {
    const sample = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    const order = [...canonicalJson(sample).matchAll(/:"([^"]+)"/g)].map(([, value]) => value);
    expect(order).toEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
  });

  it.each<[string, string]>([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('appendix B: %s is %s', (bits, text) => {
    expect(canonicalJson(Buffer.from(bits, 'hex').readDoubleBE())).toBe(text);
  });

  it.each([NaN, Infinity, '\ud800'])('refuses %s', (value) => {
    expect(() => canonicalJson(value)).toThrow();
  });
});
