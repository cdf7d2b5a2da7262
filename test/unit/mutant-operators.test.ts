import { describe, expect, it } from 'vitest';
import { mutate, OPERATORS } from '../../scripts/mutants/mutate.mjs';

type At = string | number | readonly (string | number)[];

/** Mutates the declaration `f` of a text. */
function mutated(text: string, operator: string, at: At, value?: unknown, file = 'f.ts'): string {
  return mutate({ file, in: 'f', operator, at, with: value }, text).text;
}

const body = (code: string) => `function f(p, q) { ${code} }`;

/** An operator, its place and value, and the code before and after. */
type Row = readonly [operator: string, at: At, value: unknown, before: string, after: string];

const TYPESCRIPT: readonly Row[] = [
  ['condition-true', 1, undefined, 'if (p) go();', 'if (!0) go();'],
  ['condition-true', 'go', undefined, 'return [].some((x) => go(x));', 'return [].some((x) => !0);'],
  ['condition-true', 'a', undefined, 'return (p ?? q) === a || b;', 'return !0 || b;'],
  ['condition-false', 1, undefined, 'while (p.a) go();', 'while (!1) go();'],
  ['condition-false', 'b', undefined, 'return p.a && (p.b ?? q) > 1;', 'return p.a && !1;'],
  ['condition-false', 'length', undefined, 'return p.length ? a : b;', 'return !1 ? a : b;'],
  ['negate', 'a', undefined, 'if (p.a && q.b) go();', 'if (!(p.a) && q.b) go();'],
  ['swap-operator', 'a', undefined, 'return p.a === q;', 'return p.a !== q;'],
  ['swap-operator', 'b', undefined, 'return p.a && p.b;', 'return p.a || p.b;'],
  ['swap-operator', 1, undefined, 'return p < q;', 'return p >= q;'],
  ['swap-operator', 1, undefined, 'return p + q;', 'return p - q;'],
  ['boundary', 1, undefined, 'return p < q;', 'return p <= q;'],
  ['boundary', 1, undefined, 'return p >= q;', 'return p > q;'],
  ['remove-operand', 'a', undefined, 'return p.a && p.b && p.c;', 'return p.b && p.c;'],
  ['remove-operand', 'b', undefined, 'return p.a && p.b && p.c;', 'return p.a && p.c;'],
  ['remove-operand', 'c', undefined, 'return p.a && p.b && p.c;', 'return p.a && p.b;'],
  ['remove-operand', 'b', undefined, 'return p.a || (p.b && p.c);', 'return p.a || (p.c);'],
  ['remove-operand', 'a', undefined, 'return p.a ?? 1;', 'return 1;'],
  ['remove-statement', 'go', undefined, 'a(); go(p); b();', 'a();  b();'],
  ['remove-statement', 'go', undefined, 'if (p) go(); b();', ' b();'],
  ['remove-statement', 'go', undefined, 'if (p) { go(); }', 'if (p) {  }'],
  [
    'remove-statement',
    'go',
    undefined,
    "switch (p) { case 'x': go(); break; }",
    "switch (p) { case 'x':  break; }",
  ],
  ['swap-statements', 'a', undefined, 'a(); b(); c();', 'b();\na(); c();'],
  ['remove-element', 'x', undefined, "return ['x', 'y'];", "return ['y'];"],
  ['remove-element', 'y', undefined, "return ['x', 'y'];", "return ['x'];"],
  ['remove-element', 'x', undefined, "return ['x'];", 'return [];'],
  ['remove-element', 'y', undefined, "return ['x', 'y',];", "return ['x'];"],
  ['remove-element', 'x', undefined, "return ['x',];", 'return [];'],
  ['remove-element', 'go', undefined, 'return [p, ...go(q)];', 'return [p];'],
  ['remove-element', 'b', undefined, 'return `x ${p.a} ${p.b}`;', 'return `x ${p.a}`;'],
  ['remove-element', 'a', undefined, 'return `x ${p.a} ${p.b}`;', 'return `x ${p.b}`;'],
  ['remove-property', 'x', undefined, 'return { x: 1, ...p };', 'return { ...p };'],
  ['remove-property', 'p', undefined, 'return { x: 1, p };', 'return { x: 1 };'],
  ['remove-argument', 'x', undefined, "return go('x', p);", 'return go(p);'],
  ['remove-argument', 'go', undefined, 'return new Set(go(p));', 'return new Set();'],
  ['call-to-argument', 'go', undefined, 'return go(p, q);', 'return p;'],
  ['call-to-argument', 'go', 2, 'return a.go(p, q);', 'return q;'],
  ['call-to-receiver', 'trim', undefined, "return p.trim().split('');", "return p.split('');"],
  ['boolean', 'x', undefined, 'return { x: true, y: true };', 'return { x: false, y: true };'],
  ['boolean', 'x', undefined, 'return { x: () => false };', 'return { x: () => true };'],
  ['boolean', 'false', undefined, 'if (p) return true; return false;', 'if (p) return true; return true;'],
  ['number', '1600', 7, 'return p + 1_600;', 'return p + 7;'],
  ['string', 'x', 'z', "return ['x', 'y'];", 'return ["z", \'y\'];'],
  ['string', 'k', 'z', "return { k: 'x', l: 'x' };", 'return { k: "z", l: \'x\' };'],
  ['string', 'x', 'z ', 'return `x ${p}/`;', 'return `z ${p}/`;'],
  ['string', '/', '', 'return `x ${p}/`;', 'return `x ${p}`;'],
  ['string', '/', '`${\\', 'return `x ${p}/`;', 'return `x ${p}\\`\\${\\\\`;'],
  ['regex', 1, '^a', 'return /^a$/u.test(p);', 'return /^a/u.test(p);'],
  ['return-value', 'go', undefined, 'return go(p);', 'return undefined;'],
  ['return-value', 'go', 'x', 'return go(p);', 'return "x";'],
  ['return-value', 'go', { name: 'NONE' }, 'return go(p);', 'return NONE;'],
  ['swap-jump', 'undefined', 'continue', 'for (;;) return undefined;', 'for (;;) continue;'],
  ['set-property', ['go', 'a'], { x: 1 }, 'return go(p, q.a);', 'return go(p, { ...q.a, "x": 1 });'],
];

const SHELL: readonly Row[] = [
  ['remove-statement', 'go', undefined, 'go "$a"; b', ':; b'],
  ['remove-statement', 'a', undefined, 'if [ "$a" ]; then b; fi', ':'],
  ['remove-statement', 'x', undefined, '[ "$a" = x ] || return 1', ':'],
  ['condition-true', 'a', undefined, 'if [ "$a" = x ]; then b; fi', 'if :; then b; fi'],
  ['condition-true', 'a', undefined, '[ "$a" = x ]', ':'],
  ['condition-false', 'b', undefined, 'a && b', 'a && false'],
  ['remove-operand', 'a', undefined, '[ "$a" ] || [ "$b" ] || c', '[ "$b" ] || c'],
  ['remove-operand', 'c', undefined, '[ "$a" ] || [ "$b" ] || c', '[ "$a" ] || [ "$b" ]'],
  ['remove-element', '*x', undefined, 'case $a in *x) b ;; y) c ;; esac', 'case $a in  y) c ;; esac'],
  ['remove-element', "*'>'", undefined, "case $a in *'>' | y) c ;; esac", 'case $a in y) c ;; esac'],
  ['remove-element', 'y', undefined, 'case $a in x | y) c ;; esac', 'case $a in x) c ;; esac'],
  ['number', 'exit', 2, 'exit 0', 'exit 2'],
  ['number', ['leak', '0'], 1, 'leak=1; leak=0', 'leak=1; leak=1'],
  ['swap-jump', 'return', undefined, 'return 1', 'exit 1'],
  ['swap-jump', 'exit', undefined, 'a || exit 1', 'a || return 1'],
];

describe('the operators of the mutants', () => {
  it.each(TYPESCRIPT)('%s at %j with %j: %s', (operator, at, value, before, after) => {
    expect(mutated(body(before), operator, at, value)).toBe(body(after));
  });

  it.each(SHELL)('sh: %s at %j with %j: %s', (operator, at, value, before, after) => {
    const script = (code: string) => `f() {\n  ${code}\n}\n`;
    expect(mutated(script(before), operator, at, value, 'f.sh')).toBe(script(after));
  });

  it('remove a line from the value of a shell variable', () => {
    expect(mutated("f='\nx y\nz\n'\n", 'remove-element', 'x y', undefined, 'f.sh')).toBe("f='\nz\n'\n");
  });

  it('are all in these tables', () => {
    const tried = (rows: readonly Row[]) => new Set(rows.map(([operator]) => operator));
    expect(tried(TYPESCRIPT)).toEqual(new Set(Object.keys(OPERATORS.typescript)));
    expect(tried(SHELL)).toEqual(new Set(Object.keys(OPERATORS.shell)));
  });
});

describe('the place of a mutant', () => {
  it('is identified by words that renaming a local does not change', () => {
    const code = (local: string) => `function f(${local}) { if (${local}.a) go(); if (${local}.b) go(); }`;
    expect(mutated(code('p'), 'condition-true', 'b')).toBe(code('p').replace('p.b', '!0'));
    expect(mutated(code('b'), 'condition-true', 'b')).toBe(code('b').replace('b.b', '!0'));
  });

  it('is the innermost one that mentions them all', () => {
    expect(mutated(body('if (a) { go(); b(); }'), 'remove-statement', ['go', 'b'])).toBe(body(''));
    expect(mutated(body('if (a) { go(); b(); }'), 'remove-statement', 'b')).toBe(body('if (a) { go();  }'));
  });

  it('is counted among those that mention them', () => {
    expect(mutated(body('a(); go(1); go(2);'), 'remove-statement', ['go', 2])).toBe(body('a(); go(1); '));
  });

  it('is searched in one declaration only: exported, private, a constant or a class member', () => {
    const text = 'const f = 1;\nexport class C { m() { return 1; } n() { return 1; } }\n';
    const at = (name: string) => mutate({ file: 'f.ts', in: name, operator: 'number', with: 2 }, text).text;
    expect(at('f')).toBe(text.replace('f = 1', 'f = 2'));
    expect(at('C.n')).toBe(text.replace('n() { return 1', 'n() { return 2'));
    expect(() => at('g')).toThrow('0 top-level declarations are called g');
  });

  it('without a declaration’s name is, in a script, outside its functions', () => {
    const text = 'f() {\n  exit 1\n}\nexit 1\n';
    expect(mutate({ file: 'f.sh', operator: 'number', with: 0 }, text).text).toBe(
      'f() {\n  exit 1\n}\nexit 0\n',
    );
  });

  it('must be unique', () => {
    expect(() => mutated(body('go(1); go(2);'), 'remove-statement', 'go')).toThrow('2 such places');
    expect(() => mutated(body('go(1);'), 'remove-statement', 'gone')).toThrow('0 such places');
    expect(() => mutated(body('go(1);'), 'no-such', 1)).toThrow('no operator');
    expect(() => mutated(body('go(1);'), 'number', 1)).toThrow('needs a `with`');
  });
});
