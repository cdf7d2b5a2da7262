type Fields<K extends string> = Readonly<Partial<Record<K, unknown>>>;

/** Returns the fields of a JSON object, and none for any other text. The caller checks the type of each. */
export function jsonFields<K extends string = string>(text: string): Fields<K> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Fields<K>) : ({} as Fields<K>);
  } catch {
    return {} as Fields<K>;
  }
}
