import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { installerOf } from '../../../src/install/choose-clients.ts';
import { guardCommand } from '../../../src/install/guard-command.ts';
import {
  type HookEntry,
  SettingsError,
  hooksAreCurrent,
  registerHooks,
  unregisterHooks,
} from '../../../src/install/hook-settings.ts';
import { jsonValue, toBinary, withoutComments } from '../../../src/install/json-text.ts';

const isOurs = (command: string) => command.includes('ours');
const handler = (command: string) => ({ type: 'command', command, timeout: 10 });
const ENTRIES: HookEntry[] = [
  { event: 'Stop', handler: handler('ours é') },
  { event: 'PreToolUse', matcher: '^(A|mcp__.*)$', handler: handler('ours "quoted" \\ é') },
];

const register = (text: string) => registerHooks(text, ENTRIES, isOurs);
const unregister = (text: string) => unregisterHooks(text, isOurs);

const group = fc.record({ matcher: fc.string(), hooks: fc.array(fc.record({ command: fc.string() })) });
const groups = fc.array(fc.oneof(group, fc.jsonValue({ maxDepth: 1 })));
const hooks = fc.dictionary(fc.constantFrom('Stop', 'PreToolUse', 'Other'), groups);
const document = fc
  .tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.option(hooks))
  .map(([keys, ours]) => (ours === null ? { ...keys, hooks: {} } : { ...keys, hooks: ours }));
const layout = fc.record({
  indent: fc.constantFrom('', '  ', '    ', '\t'),
  eol: fc.constantFrom('\n', '\r\n'),
  mark: fc.constantFrom('', '\u{feff}'),
  tail: fc.constantFrom('', '\n', ' \n\n'),
});

function lay(
  value: unknown,
  { indent, eol, mark, tail }: { indent: string; eol: string; mark: string; tail: string },
): string {
  return toBinary(mark + (JSON.stringify(value, null, indent) + tail).replaceAll('\n', eol));
}

/** Drops empty lists and objects of hooks, since `unregisterHooks` may drop them, too. */
function withoutEmpty(value: unknown): unknown {
  const { hooks: all, ...rest } = value as { hooks?: Record<string, unknown[]> };
  const kept = Object.entries(all ?? {}).filter(([, list]) => list.length > 0);
  return kept.length === 0 ? rest : { ...rest, hooks: Object.fromEntries(kept) };
}

describe('registerHooks and unregisterHooks', () => {
  it('keep the meaning of everything else, in any layout, and change nothing when repeated', () => {
    fc.assert(
      fc.property(document, layout, (value, style) => {
        const text = lay(value, style);
        const registered = register(text);
        expect(hooksAreCurrent(registered, ENTRIES, isOurs)).toBe(true);
        expect(register(registered)).toBe(registered);
        expect(withoutEmpty(jsonValue(unregister(registered)))).toEqual(withoutEmpty(jsonValue(text)));
      }),
    );
  });

  it('only insert: what was there is still there, in the same order', () => {
    fc.assert(
      fc.property(document, layout, (value, style) => {
        const text = lay(value, style);
        let at = 0;
        for (const char of register(text)) if (char === text[at]) at++;
        expect(at).toBe(text.length);
      }),
    );
  });

  it('keep the layout of the file', () => {
    expect(register('{\r\n\t"a": 1\r\n}')).toContain(
      ',\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{\r\n\t\t\t\t"hooks": [',
    );
    expect(register('{\r\n\t"a": 1\r\n}')).not.toMatch(/[^\r]\n/);
    expect(register('')).toMatch(/^\{\n {2}"hooks": \{\n {4}"Stop": \[\n {6}\{[^]*\}\n$/);
  });

  it('find a name even if it is written with escapes, in every member of that name', () => {
    const text = '{"hooks": 1, "h\\u006foks": {"St\\u006fp": [{"hooks": [{"command": "\\u006furs"}]}]}}';
    expect(unregister(text)).toBe('{"hooks": 1}');
  });

  it.each(['{', '{} x', '[1]', 'null', '{"hooks": null}', '{"hooks": {"Stop": {}}}', '\u0000'])(
    'refuse %j',
    (text) => {
      expect(() => register(text)).toThrow(SettingsError);
    },
  );

  it('are not misled by odd shapes in others’ lists', () => {
    const odd =
      '{"hooks": {"Stop": [null, 1, "ours", {"hooks": "ours"}, {"hooks": [null, {"command": ["ours"]}]}]}}';
    expect(unregister(odd)).toBe(odd);
    expect(unregister(register(odd))).toContain(odd.slice(0, -3));
  });
});

describe('settings with comments', () => {
  const COMMENTS = { comments: true } as const;
  const comment = fc.oneof(
    fc.constantFrom('/* of the team, "quoted" */', '/**/', '// to the end, {"a": [1]}\n', '//\r\n'),
    fc.string({ unit: 'grapheme-ascii' }).map((text) => `/*${text.replaceAll('*/', '')}*/`),
  );
  /** JSON with comments in some of the places where blanks are allowed. */
  const commented = fc
    .tuple(document, layout, fc.array(comment, { minLength: 1, maxLength: 6 }), fc.infiniteStream(fc.nat(3)))
    .map(([value, style, comments, dice]) => {
      const left = [...comments];
      const text = lay(value, style);
      const put = text.replace(/"(?:[^"\\]|\\[^])*"|[{}[\],:]/g, (token) => {
        const one = !token.startsWith('"') && dice.next().value === 0 ? left.pop() : undefined;
        return one === undefined ? token : token + one;
      });
      return { text: put, value: jsonValue(text), comments: comments.slice(left.length) };
    });

  it('keep their comments and their meaning, and do not change when the edit is repeated', () => {
    fc.assert(
      fc.property(commented, ({ text, value, comments }) => {
        const registered = registerHooks(text, ENTRIES, isOurs, COMMENTS);
        expect(registerHooks(registered, ENTRIES, isOurs, COMMENTS)).toBe(registered);
        const taken = unregisterHooks(registered, isOurs, COMMENTS);
        // The settings may already have our entry. A comment beside it is removed with it.
        const plain = JSON.stringify(value);
        const others = unregister(plain);
        expect(withoutEmpty(jsonValue(withoutComments(taken)))).toEqual(withoutEmpty(jsonValue(others)));
        if (others === plain) for (const one of comments) expect(registered).toContain(one);
      }),
    );
  });

  it.each([
    '{\n  "a": 1, // first\n  "b": 2 // last\n}\n',
    '{\n  // nothing yet\n}\n',
    '{ /* nothing yet */ }',
    '// above\n{\n  "url": "http://x//y", /* "hooks": {} */\n  "a": [1, 2]\n} // below\n',
    '{\n  "hooks": {\n    "Stop": [\n      { "hooks": [] } // mine\n    ] // all\n  }\n}\n',
  ])('come back byte for byte: %j', (text) => {
    const registered = registerHooks(text, ENTRIES, isOurs, COMMENTS);
    expect(hooksAreCurrent(registered, ENTRIES, isOurs, COMMENTS)).toBe(true);
    expect(unregisterHooks(registered, isOurs, COMMENTS)).toBe(text);
  });

  it('keep what somebody wrote beside our entries', () => {
    const ours = '{"command": "ours"}';
    const list = (items: string) => `{"hooks": {"Stop": [{"hooks": [\n${items}\n]}]}}`;
    const taken = (items: string) => unregisterHooks(list(items), isOurs, COMMENTS);
    expect(taken(`1, // one,\n${ours}, // two\n2 // three`)).toBe(list('1 // one,\n, // two\n2 // three'));
    expect(taken(`${ours} /* a, b */, // two\n2`)).toBe(list('/* a, b */ // two\n2'));
  });

  it.each(['{ /* open }', '{ // open', '{"a": 1 / 2}'])('refuse %j', (text) => {
    expect(() => registerHooks(text, ENTRIES, isOurs, COMMENTS)).toThrow(SettingsError);
  });

  it('are refused if the client does not read comments', () => {
    expect(() => register('{} // mine')).toThrow(SettingsError);
  });
});

describe('an event that is registered no longer', () => {
  const old = (hooks: object) => JSON.stringify({ hooks: { PreCompress: [{ hooks }], Stop: [] } }, null, 2);
  const own = { type: 'command', command: guardCommand(installerOf('gemini'), 'project', '') };
  const theirs = { type: 'command', command: 'save-it' };
  const now = (text: string) => installerOf('gemini').register(text, 'project', '');

  it('is removed by the next init, and somebody else’s hook stays', () => {
    expect(now('')).not.toContain('PreCompress');
    expect(now(old([own]))).not.toContain('PreCompress');
    const kept = JSON.parse(now(old([own, theirs]))) as { hooks: Record<string, unknown> };
    expect(kept.hooks['PreCompress']).toEqual([{ hooks: [theirs] }]);
  });
});
