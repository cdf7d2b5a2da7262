import type { Inseparable } from '../../changes/session-parts.ts';
import { type SessionId, peerName, peerNames, sessionOfOwner } from '../../domain/names.ts';
import { escapeLine } from '../../domain/messages.ts';
import type { Context } from '../../sessions/caller.ts';
import { clientsOf } from '../../sessions/records.ts';
import type { BoardWork } from '../../ui/board/shape.ts';
import type { CommandResult } from '../verb.ts';
import type { SessionDiffShape } from '../shapes.ts';
import {
  UNUSABLE,
  type WorkOptions,
  allParts,
  workOfSession,
  readSessionWork,
  sessionNamed,
} from './session-work.ts';
import { TreeBuilder } from './session-tree.ts';

interface DiffOptions extends WorkOptions {
  readonly stat: boolean;
}

/**
 * Shows what one session has changed and not committed, as a patch that git-apply(1) takes on HEAD. If others changed a file,
 * too, the patch has only this session's hunks. A person who names no session gets a patch for each session and one for the
 * rest, to apply one after the other: the patches together are all that differs from HEAD.
 *
 * @throws Failure `not-found` for a session that is not known here
 */
export async function diff(
  options: DiffOptions,
  context: Context,
): Promise<CommandResult<{ items: SessionDiffShape[] }>> {
  const scene = await readSessionWork(options, context);
  const { self, judged, notices } = scene;
  const session = options.of === undefined ? self : sessionNamed(options.of, scene);
  const isAll = session === undefined;
  const records = { clients: clientsOf(judged) };
  const shown: { session: SessionId | null; patch: Buffer }[] = [];
  const left: string[] = [];
  await TreeBuilder.use(scene, context, 'scratch', async (trees) => {
    const show = async (whose: SessionId | null) => {
      const patch = await trees.patch(options.stat ? '--stat' : 'patch');
      if (patch.length > 0) shown.push({ session: whose, patch });
    };
    const whose = isAll ? await allParts(scene) : [{ session, ...(await workOfSession(scene, session)) }];
    for (const one of whose) {
      const failed = await trees.add(one.parts);
      left.push(...failed.flatMap((part) => apartText(part, records, isAll)));
      await show(one.session);
    }
    if (!isAll) return;
    left.push(...(await trees.addRest()).map(unusableText));
    await show(null);
  });
  const title = (id: SessionId | null) =>
    id === null ? 'the user, an unknown session, or several at once' : peerName(id, records);
  const bytes = Buffer.concat(
    shown.flatMap((one) =>
      isAll ? [Buffer.from(`# ${escapeLine(title(one.session))}\n`), one.patch] : [one.patch],
    ),
  );
  const items = shown.map(({ session: id, patch }) => ({ session: id, ...patchShape(patch) }));
  return { value: { items }, bytes, notices: [...notices, ...left] };
}

/** How much an owner (a session or a running sub-agent) has changed in a working tree and not committed. */
interface WorkSize extends Omit<BoardWork, 'command'> {
  readonly session: SessionId;
  /** When the owner made the first and the last of these changes. */
  readonly since: number;
  readonly at: number;
}

/**
 * Measures the patch of each owner with changes in the working tree around `cwd`, as {@link diff} shows it to a person.
 *
 * @throws Failure `environment` where there is no working tree
 */
export async function workSizes(context: Context): Promise<WorkSize[]> {
  const work = await readSessionWork({ pathspecs: [], session: undefined }, context);
  const scene = { ...work, self: undefined };
  const owners = (await allParts(scene)).map(({ session }) => session);
  const sizes: WorkSize[] = [];
  // What a running sub-agent has changed is shown as its session's, too.
  for (const session of new Set([...owners, ...owners.map(sessionOfOwner)])) {
    const { parts } = await workOfSession(scene, session);
    const claims = parts.flatMap(({ mine }) => mine);
    const [since, at] = [claims.map((one) => one.since), claims.map((one) => one.at)];
    const patch = await TreeBuilder.use(scene, context, 'scratch', async (trees) => {
      await trees.add(parts);
      return trees.patch('--numstat');
    });
    const lines = patch.toString('utf8').split('\n').filter(Boolean);
    const sum = (n: 0 | 1) => lines.reduce((all, line) => all + (Number(line.split('\t')[n]) || 0), 0);
    const size = { files: lines.length, added: sum(0), removed: sum(1) };
    if (size.files > 0) sizes.push({ session, since: Math.min(...since), at: Math.max(...at), ...size });
  }
  return sizes;
}

function patchShape(patch: Buffer): { patch: string } | { patchBase64: string } {
  const text = patch.toString('utf8');
  return Buffer.from(text).equals(patch) ? { patch: text } : { patchBase64: patch.toString('base64') };
}

const unusableText = (path: string) => `${escapeLine(path)}: ${UNUSABLE}; it is left out`;

function apartText(
  { part, why }: Inseparable,
  records: { readonly clients: ReadonlyMap<string, string> },
  isAll: boolean,
): string[] {
  const { dirty, mine, others } = part;
  // If all changes are shown, the last part reports unusable paths.
  if (why === 'unusable') return isAll ? [] : [unusableText(dirty.path)];
  const names = (claims: typeof mine) => peerNames(new Set(claims.map(({ session }) => session)), records);
  const beside = others.length === 0 ? 'others' : names(others);
  const cannot =
    why === 'overlap'
      ? `overlap or touch those of ${beside}`
      : `cannot be separated from those of ${beside} (not text, or too large)`;
  const where = isAll ? 'they are in the last part' : 'the file is left out';
  return [`${escapeLine(dirty.path)}: the changes of ${names(mine)} ${cannot}; ${where}`];
}
