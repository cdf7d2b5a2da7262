/** Bytes as a string, one character each (latin1). */
export type BinaryText = string;

// eslint-disable-next-line no-control-regex -- "not ASCII" is what is asked
const NOT_ASCII = /[^\u0000-\u007f]/;

/** The UTF-8 text of bytes; most of what git prints is ASCII and is returned as it is. */
export function utf8(bytes: BinaryText): string {
  return NOT_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
}
