import { join } from 'node:path';
import { escapeLine } from '../../domain/surfacing.ts';
import type { TreeCall } from '../call.ts';
import type { FileFacts } from '../facts.ts';
import type { Finding } from '../findings.ts';

/** Sessions often mistake the main checkout for their own. Each gets one notice, when it steps into another tree. */
export function wrongCheckout({ repository, tree }: TreeCall, { placed }: FileFacts): readonly Finding[] {
  const [first] = placed;
  if (repository === undefined || first === undefined) return [];
  const path = escapeLine(first.path);
  const [here, there] = [repository, tree].map(({ workTree }) => escapeLine(workTree));
  const text =
    `git-handoff: ${path} is in another working tree (${there ?? ''}) than the one this session works in ` +
    `(${here ?? ''}). If that is not meant, this is the file of your own tree: ${escapeLine(join(repository.workTree, first.path))}`;
  return [{ kind: 'tell', text }];
}
