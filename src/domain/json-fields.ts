type Fields<K extends string> = Readonly<Partial<Record<K, unknown>>>;

/** The fields of a JSON object; none for any other text. Whoever reads one asks what it is. */
export function jsonFields<K extends string = string>(text: string): Fields<K> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Fields<K>) : ({} as Fields<K>);
  } catch {
    return {} as Fields<K>;
  }
}
