import fc from 'fast-check';

/**
 * Any text: every code point of Unicode, control characters and half surrogate pairs included, with
 * those below U+0100 as often as all others. (fast-check's own `binary` strings cost 0.7 s to begin.)
 */
export function anyText(maxLength = 12): fc.Arbitrary<string> {
  const codePoint = fc.oneof(fc.nat(0xff), fc.nat(0xffff), fc.nat(0x10ffff));
  return fc.array(codePoint, { maxLength }).map((codes) => String.fromCodePoint(...codes));
}
