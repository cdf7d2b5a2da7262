import { readFileSync } from 'node:fs';

/** A command of `bash.json`: what the guard says of it, and what it does when it is run. */
export interface HostileCase {
  readonly id: string;
  readonly command: string;
  readonly expect: 'deny' | 'allow' | 'deny-or-detect';
  readonly why: string;
  readonly groundTruth: string;
  readonly setup?: string;
  readonly cwd?: string;
  readonly owner?: string;
}

/** The cases of a file in `fixtures/hostile`. */
export function hostileCases<Case>(name: string): Case[] {
  const file = new URL(`../../fixtures/hostile/${name}`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { cases: Case[] }).cases;
}

/** One case of `fixtures/hostile/names.json`; its README says what the outcomes mean. */
interface HostileName {
  readonly id: string;
  readonly kind: 'topic' | 'branch' | 'session_id';
  readonly value: string;
  readonly expect: 'accept' | 'accept-encoded' | 'accept-as-detached' | 'reject' | 'distinct';
  readonly why: string;
}

/** The names of one kind. */
export const hostileNames = (kind: HostileName['kind']): HostileName[] =>
  hostileCases<HostileName>('names.json').filter((one) => one.kind === kind);
