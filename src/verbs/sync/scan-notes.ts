import type { Oid } from '../../domain/names.ts';
import type { SecretFinding } from '../../domain/secrets/finding.ts';
import { type SecretScan, decideSecrets } from '../../domain/secrets/verdict.ts';
import { findSecrets } from '../../notes/secrets/find-secrets.ts';

/** A note that is about to leave: of a tip, or of an older commit that leaves with it. */
export interface LeavingNote {
  /** The public ref that takes it along. */
  readonly ref: string;
  /** The commit it stands in. */
  readonly commit: Oid;
  /** The note's blob: what is scanned once, however many commits hold it. */
  readonly oid: Oid;
  /** `undefined`: the blob's text was told with an earlier one. */
  readonly note: Uint8Array | undefined;
  /** The rules that its commit records as allowed (`parseAllowed` of the trailer). */
  readonly allowed: readonly string[];
}

/** A note with a secret that nobody allowed. */
export interface LeavingSecret {
  readonly ref: string;
  readonly commit: Oid;
  readonly oid: Oid;
  readonly findings: readonly SecretFinding[];
}

function told(note: Uint8Array | undefined): Uint8Array {
  if (note === undefined) throw new TypeError('a note was to be scanned before its text was told');
  return note;
}

/**
 * Scans the notes that a push would take along, each text once. What one commit allows in a text is allowed wherever
 * the very same text stands; in any other text it is not. With `off` nothing is read.
 */
export async function scanNotes(
  notes: Iterable<LeavingNote> | AsyncIterable<LeavingNote>,
  scan: SecretScan,
): Promise<LeavingSecret[]> {
  if (scan === 'off') return [];
  const found = new Map<Oid, readonly SecretFinding[]>();
  const allowed = new Map<Oid, string[]>();
  const places: Pick<LeavingNote, 'ref' | 'commit' | 'oid'>[] = [];
  for await (const { ref, commit, oid, note, allowed: rules } of notes) {
    const findings = found.get(oid) ?? (await findSecrets(told(note)));
    found.set(oid, findings);
    if (findings.length === 0) continue;
    allowed.set(oid, [...(allowed.get(oid) ?? []), ...rules]);
    places.push({ ref, commit, oid });
  }
  return places.flatMap((place) => {
    const verdict = decideSecrets(found.get(place.oid) ?? [], allowed.get(place.oid) ?? [], scan);
    return 'findings' in verdict ? [{ ...place, findings: verdict.findings }] : [];
  });
}
