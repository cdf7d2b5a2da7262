/**
 * A short name for a text that cannot be a file's name: two FNV-1a sums (32 bits each) and its length. Not for
 * secrets; node:crypto costs milliseconds to load, and this is on the guard's hot path.
 */
export function nameHash(text: string): string {
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (let n = 0; n < text.length; n++) {
    const code = text.charCodeAt(n);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ (code + n), 0x85ebca6b);
  }
  return `${(a >>> 0).toString(36)}-${(b >>> 0).toString(36)}-${text.length.toString(36)}`;
}
