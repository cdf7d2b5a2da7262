import { posix } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { isMoving } from '../../domain/work.ts';
import type { TreeConfig } from '../../git/config.ts';
import { readObjects } from '../../git/objects.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import type { FoundWork } from '../../notes/work/find-work.ts';

/**
 * Refuses work from elsewhere that has files which make programs run or instruct agents, unless each is named.
 *
 * @throws Failure `refused`
 */
export async function requireHarmless(
  top: string,
  { work, blobs, state }: FoundWork,
  { hooksPath }: TreeConfig,
  { trust, from }: { readonly trust: readonly string[]; readonly from: string | undefined },
): Promise<void> {
  const links = work.items.flatMap(({ path, disk }) => {
    const oid = disk?.mode === '120000' ? blobs[disk.blob] : undefined;
    return oid === undefined ? [] : [{ path, oid }];
  });
  const targets = await readObjects(
    { cwd: top },
    links.map(({ oid: name }) => ({ name })),
  );
  const leading = links.filter(({ path }, at) => leadsOut(path, targets[at]?.content.toString('utf8') ?? ''));
  const moving = work.items.map(({ path }) => path).filter((path) => isMoving(path, hooksPath));
  const named = new Set(trust);
  const refused = [...moving, ...leading.map(({ path }) => path)].filter((path) => !named.has(path));
  if (refused.length === 0) return;
  const name = typedTopic(state.branch, state.topic);
  const all = [...new Set([...trust, ...refused])].map((path) => ` --trust ${shellWord(path)}`).join('');
  const message =
    `the work contains files that make programs run, instruct agents or link elsewhere: ` +
    `${refused.map(escapeLine).join(', ')}; nothing was changed. Look at them first: git show ${state.tip?.trailers?.work ?? ''}`;
  const author = from === undefined ? '' : ` --from ${shellWord(from)}`;
  throw new Failure('refused', message, { hint: `git handoff unpack ${name}${author}${all}` });
}

/** Whether a link leads out of the working tree or into `.git`. */
function leadsOut(path: string, target: string): boolean {
  const to = posix.normalize(posix.join(posix.dirname(path), target));
  return target.startsWith('/') || to === '..' || to.startsWith('../') || /(^|\/)\.git(\/|$)/i.test(to);
}
