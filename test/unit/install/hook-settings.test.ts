import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type HookEntry,
  SettingsError,
  hooksAreCurrent,
  registerHooks,
  unregisterHooks,
} from '../../../src/install/hook-settings.ts';
import { jsonValue, toBinary } from '../../../src/install/json-text.ts';

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

/** Without lists and objects of hooks that are empty: taking our part out may drop those. */
function withoutEmpty(value: unknown): unknown {
  const { hooks: all, ...rest } = value as { hooks?: Record<string, unknown[]> };
  const kept = Object.entries(all ?? {}).filter(([, list]) => list.length > 0);
  return kept.length === 0 ? rest : { ...rest, hooks: Object.fromEntries(kept) };
}

describe('registerHooks and unregisterHooks', () => {
  it('keep the meaning of everything else, in any layout, and repeat without change', () => {
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

  it('only insert: what was there stands there still, in its order', () => {
    fc.assert(
      fc.property(document, layout, (value, style) => {
        const text = lay(value, style);
        let at = 0;
        for (const char of register(text)) if (char === text[at]) at++;
        expect(at).toBe(text.length);
      }),
    );
  });

  it('write the layout of the file', () => {
    expect(register('{\r\n\t"a": 1\r\n}')).toContain(
      ',\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{\r\n\t\t\t\t"hooks": [',
    );
    expect(register('{\r\n\t"a": 1\r\n}')).not.toMatch(/[^\r]\n/);
    expect(register('')).toMatch(/^\{\n {2}"hooks": \{\n {4}"Stop": \[\n {6}\{[^]*\}\n$/);
  });

  it('find a name that is written with escapes, in every member of that name', () => {
    const text = '{"hooks": 1, "h\\u006foks": {"St\\u006fp": [{"hooks": [{"command": "\\u006furs"}]}]}}';
    expect(unregister(text)).toBe('{"hooks": 1}');
  });

  it.each(['{', '{} x', '[1]', 'null', '{"hooks": null}', '{"hooks": {"Stop": {}}}', '\u0000'])(
    'refuse %j',
    (text) => {
      expect(() => register(text)).toThrow(SettingsError);
    },
  );

  it('are not fooled by odd shapes in the lists of others', () => {
    const odd =
      '{"hooks": {"Stop": [null, 1, "ours", {"hooks": "ours"}, {"hooks": [null, {"command": ["ours"]}]}]}}';
    expect(unregister(odd)).toBe(odd);
    expect(unregister(register(odd))).toContain(odd.slice(0, -3));
  });
});
