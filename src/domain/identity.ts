import { SESSION_VARIABLES, type SessionId, parseClientSessionId, parseSessionId } from './names.ts';
import type { ProcessId, SessionRecord } from './session.ts';

export interface IdentityFacts {
  /** This process's ancestors, nearest first. */
  readonly ancestors: readonly ProcessId[];
  /** Sessions on record that have not ended. */
  readonly records: readonly SessionRecord[];
  readonly bootId: string | null;
  readonly pidNs: string | null;
  variable(name: string): string | undefined;
  /** `--session`, for people and tests. */
  readonly option: string | undefined;
}

type Identity =
  | { readonly kind: 'session'; readonly id: SessionId; readonly client: string | undefined }
  | { readonly kind: 'person' }
  | { readonly kind: 'contradiction'; readonly ambient: SessionId; readonly option: string }
  | { readonly kind: 'invalid'; readonly text: string };

/**
 * Decides who is writing. The nearest ancestor process that is a session on record wins, whatever the environment says,
 * because everything that a session ever started inherits its variables. A variable counts if its session could be an
 * ancestor, or if that is not known. Otherwise a person is writing.
 */
export function decideIdentity(facts: IdentityFacts): Identity {
  const ambient = ambientSession(facts);
  if (facts.option === undefined) return ambient ?? { kind: 'person' };
  const option = parseSessionId(facts.option);
  if (option === undefined) return { kind: 'invalid', text: facts.option };
  if (ambient !== undefined && ambient.id !== option) {
    return { kind: 'contradiction', ambient: ambient.id, option };
  }
  return { kind: 'session', id: option, client: ambient?.client };
}

type AmbientSession = Extract<Identity, { kind: 'session' }>;

function ambientSession(facts: IdentityFacts): AmbientSession | undefined {
  const proven = provenSessions(facts);
  const named = namedSessions(facts);
  const [only] =
    proven.length === 1 ? proven : proven.filter((record) => named.some(({ id }) => id === record.session));
  if (only !== undefined) return { kind: 'session', id: only.session, client: only.client };
  const possible = named.find(({ id }) => couldBeAncestor(id, facts));
  return possible === undefined ? undefined : { kind: 'session', ...possible };
}

function namedSessions(facts: IdentityFacts): { id: SessionId; client: string }[] {
  return Object.entries(SESSION_VARIABLES).flatMap(([name, client]) => {
    const id = parseClientSessionId(facts.variable(name));
    return id === undefined ? [] : [{ id, client }];
  });
}

/**
 * Returns the sessions of the nearest ancestor process that has any. Several mean that one process reported them all (a
 * client that hosts conversations side by side): then only a variable can tell which one it is.
 */
function provenSessions({ ancestors, records, ...machine }: IdentityFacts): readonly SessionRecord[] {
  const here = records.filter((record) => comparable(record, machine));
  for (const { pid, start } of ancestors) {
    const found = here.filter((record) => record.pid === pid && record.start === start);
    if (found.length > 0) return found;
  }
  return [];
}

/** Whether the session's process may be an ancestor: false only if it is known here and is not among them. */
function couldBeAncestor(id: SessionId, facts: IdentityFacts): boolean {
  const own = facts.records.filter((record) => record.session === id);
  return own.length === 0 || own.some((record) => !comparable(record, facts));
}

function comparable(
  record: SessionRecord,
  machine: { bootId: string | null; pidNs: string | null },
): boolean {
  return (
    record.pid !== null &&
    record.bootId !== null &&
    record.bootId === machine.bootId &&
    record.pidNs === machine.pidNs
  );
}
