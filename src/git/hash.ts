/**
 * Hex digest of texts and bytes. The module is loaded at the first use: most commands need none, and
 * it costs milliseconds at every start.
 */
export function hash(algorithm: 'sha1' | 'sha256', ...parts: readonly (string | Uint8Array)[]): string {
  const digest = process.getBuiltinModule('node:crypto').createHash(algorithm);
  for (const part of parts) digest.update(part);
  return digest.digest('hex');
}

/** So many bytes take less time in `sha1` than node:crypto takes to load. */
export const FEW_BYTES = 8192;

/**
 * The name that git gives an object of this type and content.
 *
 * @param few so much content is hashed without node:crypto, for a process that hashes little else. Bytes
 */
export function objectName(format: 'sha1' | 'sha256', type: string, content: Uint8Array, few = 0): string {
  const header = Buffer.from(`${type} ${content.length}\0`);
  return format === 'sha1' && content.length <= few
    ? sha1(Buffer.concat([header, content]))
    : hash(format, header, content);
}

/** The object format that an object name belongs to, by its width. */
export function formatOf(oid: string): 'sha1' | 'sha256' {
  return oid.length === 40 ? 'sha1' : 'sha256';
}

const BLOCK = 64;
const ROUNDS = 80;

/**
 * SHA-1, by which git names objects (FIPS 180-4, section 6.1), in hex. For a few kilobytes: to load node:crypto for them takes
 * an eighth of a start of Node.
 */
export function sha1(bytes: Uint8Array): string {
  const message = padded(bytes);
  const words = new DataView(new ArrayBuffer(4 * ROUNDS));
  let [h0, h1, h2, h3, h4] = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
  for (let at = 0; at < message.byteLength; at += BLOCK) {
    for (let n = 0; n < BLOCK; n += 4) words.setInt32(n, message.getInt32(at + n));
    for (let n = BLOCK; n < 4 * ROUNDS; n += 4) {
      const mixed =
        words.getInt32(n - 12) ^ words.getInt32(n - 32) ^ words.getInt32(n - 56) ^ words.getInt32(n - 64);
      words.setInt32(n, (mixed << 1) | (mixed >>> 31));
    }
    let [a, b, c, d, e] = [h0, h1, h2, h3, h4];
    for (let round = 0; round < ROUNDS; round += 1) {
      const choice =
        round < 20
          ? ((b & c) | (~b & d)) + 0x5a827999
          : round < 40
            ? (b ^ c ^ d) + 0x6ed9eba1
            : round < 60
              ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
              : (b ^ c ^ d) + 0xca62c1d6;
      const sum = (((a << 5) | (a >>> 27)) + choice + e + words.getInt32(4 * round)) | 0;
      e = d;
      d = c;
      c = (b << 30) | (b >>> 2);
      b = a;
      a = sum;
    }
    h0 = (h0 + a) | 0;
    h1 = (h1 + b) | 0;
    h2 = (h2 + c) | 0;
    h3 = (h3 + d) | 0;
    h4 = (h4 + e) | 0;
  }
  return [h0, h1, h2, h3, h4].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** The bytes, a one bit, zeros, and how many bits they were: whole blocks. */
function padded(bytes: Uint8Array): DataView {
  const all = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK);
  all.set(bytes);
  all[bytes.length] = 0x80;
  const view = new DataView(all.buffer);
  view.setUint32(all.length - 4, bytes.length * 8);
  return view;
}
