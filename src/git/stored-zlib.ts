/** The most that one stored block holds (RFC 1951). Bytes. */
const MOST_STORED = 0xffff;
/** The largest prime below 2^16, by which Adler-32 counts. */
const MODULUS = 65_521;

/** Whether `storedZlib` takes so many bytes. Adding them up takes less time than loading node:zlib, which is 1.5 ms. */
export const isBrief = (length: number): boolean => length <= 4096;

/**
 * A zlib stream (RFC 1950) that holds some bytes as they are: for git, which reads it at once and compresses it itself.
 *
 * @param data at most 65,535 bytes
 */
export function storedZlib(data: Buffer): Buffer {
  if (data.length > MOST_STORED) throw new RangeError(`${data.length} bytes in one stored block`);
  const stream = Buffer.alloc(data.length + 11);
  // Deflate with the least window, no dictionary; then one block, the last, as it is.
  stream.set([0x78, 0x01, 0x01]);
  stream.writeUInt16LE(data.length, 3);
  stream.writeUInt16LE(data.length ^ MOST_STORED, 5);
  data.copy(stream, 7);
  let [sum, sums] = [1, 0];
  for (const byte of data) {
    sum = (sum + byte) % MODULUS;
    sums = (sums + sum) % MODULUS;
  }
  stream.writeUInt16BE(sums, data.length + 7);
  stream.writeUInt16BE(sum, data.length + 9);
  return stream;
}
