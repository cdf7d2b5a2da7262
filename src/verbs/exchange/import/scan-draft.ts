import { decideSecrets, formatAllowed, type SecretScan } from '../../../domain/secrets/verdict.ts';
import { escapeLine, shellWord } from '../../../domain/surfacing.ts';
import { looksLike } from '../../../notes/secrets/check-note.ts';
import { findSecrets } from '../../../notes/secrets/find-secrets.ts';
import type { Draft } from './draft.ts';
import type { ScannedDraft } from './plan.ts';

/** What the command line said that a repeated one must say, too. */
interface ScanOptions {
  readonly allowSecret: boolean;
  readonly branch: string | undefined;
  readonly topic: string | undefined;
}

/** The look for secrets of one import, and what it only warns of. */
export function draftScan(options: ScanOptions, scan: SecretScan) {
  const warnings: string[] = [];
  return { scan: (draft: Draft) => scanDraft(draft, options, scan, warnings), warnings };
}

async function scanDraft(
  { note, file }: Draft,
  options: ScanOptions,
  scan: SecretScan,
  warnings: string[],
): Promise<ScannedDraft> {
  const verdict = decideSecrets(await findSecrets(note), options.allowSecret ? 'all' : [], scan);
  if (verdict.kind === 'allowed') return { refusal: undefined, allowed: formatAllowed(verdict.rules) };
  if (verdict.kind === 'clean') return { refusal: undefined, allowed: undefined };
  const why = `${escapeLine(file.path)}: ${looksLike(verdict.findings)}`;
  if (verdict.kind === 'warn') {
    warnings.push(why);
    return { refusal: undefined, allowed: undefined };
  }
  const option = (name: string, value: string | undefined) =>
    value === undefined ? '' : ` --${name} ${shellWord(value)}`;
  const place = option('branch', options.branch) + option('topic', options.topic);
  const again = `git handoff import --allow-secret --from ${file.format}${place} -- ${shellWord(file.path)}`;
  const hint = `take it out of the file, or, if it is not a secret: ${again}`;
  return { refusal: { code: 'secret', why, hint }, allowed: undefined };
}
