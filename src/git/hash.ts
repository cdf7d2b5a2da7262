/** Hex digest of texts and bytes. Loads node:crypto late, because few hook calls need it. */
export function hash(algorithm: 'sha1' | 'sha256', ...parts: readonly (string | Uint8Array)[]): string {
  const digest = process.getBuiltinModule('node:crypto').createHash(algorithm);
  for (const part of parts) digest.update(part);
  return digest.digest('hex');
}

/** The name that git gives an object of this type and content. */
export function objectName(format: 'sha1' | 'sha256', type: string, content: Uint8Array): string {
  return hash(format, `${type} ${content.length}\0`, content);
}

/** The object format that an object name belongs to, judging by its length. */
export function formatOf(oid: string): 'sha1' | 'sha256' {
  return oid.length === 64 ? 'sha256' : 'sha1';
}

/** Random bytes that nobody can guess, in hex. */
export const randomHex = (bytes: number): string =>
  process.getBuiltinModule('node:crypto').randomBytes(bytes).toString('hex');
