import fc from 'fast-check';

/**
 * Any text, with any code point of Unicode, including control characters and lone surrogates. Code points below U+0100
 * are as frequent as all others together. (fast-check's own `binary` strings need 0.7 s to start.)
 */
export function anyText(maxLength = 12): fc.Arbitrary<string> {
  const codePoint = fc.oneof(fc.nat(0xff), fc.nat(0xffff), fc.nat(0x10ffff));
  return fc.array(codePoint, { maxLength }).map((codes) => String.fromCodePoint(...codes));
}
