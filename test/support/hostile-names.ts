import { readFileSync } from 'node:fs';

/** One case of `fixtures/hostile/names.json`; its README says what the outcomes mean. */
export interface HostileName {
  readonly id: string;
  readonly kind: 'topic' | 'branch' | 'session_id';
  readonly value: string;
  readonly expect: 'accept' | 'accept-encoded' | 'accept-as-detached' | 'reject' | 'distinct';
  readonly why: string;
}

/** The session that owns the note in the corpus; ids that only resemble it must stay distinct. */
export const CORPUS_OWNER = 'sess-bbbbbbbb-2222';

/** The cases of one kind. */
export function hostileNames(kind: HostileName['kind']): HostileName[] {
  const file = new URL('../../fixtures/hostile/names.json', import.meta.url);
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: HostileName[] };
  return cases.filter((one) => one.kind === kind);
}
