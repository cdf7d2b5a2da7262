import { Failure } from '../../domain/failure.ts';
import type { SessionId } from '../../domain/names.ts';
import { decideSecrets, formatAllowed } from '../../domain/secrets/verdict.ts';
import { escapeLine, listed, shellWord } from '../../domain/surfacing.ts';
import { formatWorkSize, workSizeText } from '../../domain/work-size.ts';
import { readSettings } from '../../git/config.ts';
import { workRef } from '../../git/namespace.ts';
import type { Committer, Repository } from '../../git/repository.ts';
import { typedPaths } from '../../changes/hint-words.ts';
import { keepInFile } from '../../host/folders.ts';
import type { CarriedTrailers } from '../../notes/handoffs.ts';
import { findSecrets } from '../../notes/secrets/find-secrets.ts';
import { looksLike } from '../../notes/secrets/check-note.ts';
import { type TopicArgument, typedTopic } from '../../notes/topic-argument.ts';
import { addWork } from '../../notes/work/work-commit.ts';
import { dropWork, keepWork } from '../../notes/work/work-refs.ts';
import type { Context } from '../../sessions/caller.ts';
import type { Again } from '../sharing/commit/again.ts';
import { type PackedWork, packWork } from './pack.ts';

/** A note that will carry work. */
export interface CarryOptions {
  readonly repository: Repository;
  readonly target: TopicArgument;
  readonly note: Uint8Array;
  readonly pathspecs: readonly string[];
  readonly session: string | undefined;
  readonly caller: { readonly id: SessionId; readonly client: string | undefined };
  readonly author: Committer;
  readonly allowSecret: boolean;
}

/** Work that is stored under its ref, for a note that is not written yet. */
export interface CarriedByNote {
  /** `undefined`: there was no work. */
  readonly trailers: CarriedTrailers | undefined;
  /** What to say once the note is written. */
  readonly notices: readonly string[];
  /** Deletes the work's ref again, when the note was not written. */
  drop(): Promise<void>;
}

/**
 * Packs the caller's uncommitted work, looks for secrets, and keeps it under its own ref.
 *
 * @throws Failure `secret`, `refused` or `not-owner`: then nothing is stored
 */
export async function carryWork(options: CarryOptions, context: Context): Promise<CarriedByNote> {
  const { repository, target, pathspecs, session, caller, author } = options;
  const settings = await readSettings(repository.cwd);
  const again = new TypedAgain(options);
  const packed = await packWork(
    { pathspecs, session, caller: caller.id, again, maxBytes: settings.maxWork },
    context,
  );
  if (packed === undefined) {
    const where = pathspecs.length > 0 ? ' there' : '';
    const notices = [`the note carries no work: no uncommitted change${where} is yours (git handoff status)`];
    return { trailers: undefined, notices, drop: () => Promise.resolve() };
  }
  const { allowed, notices } = await checkWork(packed, options, again, settings.secretScan);
  const { work, blobs, batch, size } = packed;
  const oid = addWork(batch, {
    work,
    blobs,
    summary: `work for ${target.branch}/${target.topic}`,
    trailers: {
      owner: caller.id,
      base: work.base ?? undefined,
      client: caller.client,
      state: 'open',
      takenFrom: undefined,
      to: undefined,
      secretAllowed: allowed,
    },
    author,
    seconds: Math.floor(context.now / 1000),
  });
  await batch.storeMany({ cwd: repository.cwd });
  const isNew = await keepWork(repository, target.path, oid);
  await batch.secure(repository);
  const push = `git handoff push --with-work ${typedTopic(target.branch, target.topic)}`;
  const carries = `the note carries uncommitted work: ${workSizeText(size)}; it stays on this machine until: ${push}`;
  return {
    trailers: { work: oid, workSize: formatWorkSize(size) },
    notices: [...packed.notices, ...notices, carries],
    // An earlier note may carry the same work, packed in the same second.
    drop: async () => {
      if (isNew) await dropWork(repository, [{ name: workRef(target.path, oid), oid }]);
    },
  };
}

/** The command to type again. The note's text is saved to a file when it is first asked for. */
class TypedAgain implements Again {
  readonly done = 'written';
  readonly #options: CarryOptions;
  #command: string | undefined;

  constructor(options: CarryOptions) {
    this.#options = options;
  }

  get command(): string | undefined {
    if (this.#command !== undefined) return this.#command;
    const { note, target, allowSecret } = this.#options;
    const file = keepInFile(note);
    if (file === undefined) return undefined;
    const allow = allowSecret ? ' --allow-secret' : '';
    const name = typedTopic(target.branch, target.topic);
    return (this.#command = `git handoff write ${name} --file ${shellWord(file)}${allow} --with-work`);
  }
}

/** Looks for secrets in every content before any of them is stored. */
async function checkWork(
  { contents }: PackedWork,
  { allowSecret, pathspecs }: CarryOptions,
  again: Again,
  scan: Awaited<ReturnType<typeof readSettings>>['secretScan'],
): Promise<{ allowed: string | undefined; notices: readonly string[] }> {
  const rules = new Set<string>();
  const warned: string[] = [];
  const refused = new Map<string, string>();
  for (const { path, content } of contents) {
    const findings = await findSecrets(content);
    const verdict = decideSecrets(findings, allowSecret ? 'all' : [], scan);
    if (verdict.kind === 'allowed') for (const rule of verdict.rules) rules.add(rule);
    if (verdict.kind === 'warn') warned.push(`${escapeLine(path)}: ${looksLike(verdict.findings)}`);
    if (verdict.kind === 'refuse' && !refused.has(path)) refused.set(path, looksLike(verdict.findings));
  }
  const [first] = refused;
  if (first === undefined)
    return { allowed: rules.size === 0 ? undefined : formatAllowed([...rules].sort()), notices: warned };
  const [path, why] = first;
  const others = refused.size > 1 ? `; so do ${listed([...refused.keys()].slice(1).map(escapeLine))}` : '';
  const message = `the work was not carried and nothing was written: ${escapeLine(path)}: ${why}${others}`;
  const { command = 'git handoff write <topic> --with-work' } = again;
  const paths = pathspecs.length === 0 ? '' : ` -- ${typedPaths(pathspecs) ?? '<path>...'}`;
  const hint = `remove it from that file, then: ${command}${paths}; or, if it is not a secret: ${command} --allow-secret${paths}`;
  throw new Failure('secret', message, { hint });
}
