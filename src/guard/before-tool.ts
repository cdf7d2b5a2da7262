import type { ToolCall, Verdict } from '../agents/dialect.ts';
import { type MarkerAct, type Replacement, markerOwner, replaced } from '../domain/marker.ts';
import type { PatchedFile } from '../domain/patch.ts';
import type { SessionId } from '../domain/names.ts';
import { isHandoffRefFile } from '../git/discover.ts';
import { readBeginning, realPath } from '../host/disk.ts';
import { isSolo } from '../sessions/solo.ts';
import { beforeFiles } from './checks/before-file.ts';
import { decideGuarded, markerDenial, removePath } from './checks/guarded-path.ts';
import { quietly } from './quietly.ts';
import { markerRefusal, refRefusal } from './refusals.ts';
import type { Look } from './look-once.ts';
import type { Scene } from './scene.ts';
import { strictly } from './strictly.ts';
import { toolPath, toolPaths } from './tool-paths.ts';
import { ALLOW, combined, firstRefusal, stands } from './verdicts.ts';

/** Decides a tool call before it runs. */
export async function beforeTool(scene: Scene): Promise<Verdict> {
  return strictly(scene, scene.event.session, await decideTool(scene));
}

async function decideTool(scene: Scene): Promise<Verdict> {
  const tool = scene.event.tool ?? { kind: 'other' };
  switch (tool.kind) {
    case 'other':
      return ALLOW;
    case 'unreadable':
      scene.log('open', `the input of ${scene.event.toolName ?? 'a tool without a name'} could not be read`);
      return ALLOW;
    case 'write':
      return fileTool(scene, tool, touchFile(scene, tool.path, { kind: 'write', content: tool.content }));
    case 'edit':
      return fileTool(scene, tool, touchFile(scene, tool.path, { kind: 'edit' }, tool.edits));
    case 'patch':
      return fileTool(scene, tool, firstRefusal(tool.files.flatMap((file) => patchedFile(scene, file))));
    case 'shell':
    case 'argv':
      return shellCommand(scene, tool);
  }
}

/** git looks at the working tree while the analyser is loaded and runs. */
async function shellCommand(
  scene: Scene,
  tool: Extract<ToolCall, { kind: 'shell' | 'argv' }>,
): Promise<Verdict> {
  const { place, enabled } = scene;
  const { session } = scene.event;
  const beside =
    enabled && place !== undefined && session !== undefined && !isSolo(place.gitDir, session)
      ? session
      : undefined;
  const looking =
    beside === undefined
      ? undefined
      : await quietly(scene, async () => {
          const { lookBefore } = await import('./look-before.ts');
          return lookBefore(scene, beside, tool);
        });
  const look = looking === undefined && enabled ? await lookAhead(scene, tool) : undefined;
  return (await import('./shell-tool.ts')).shellTool(scene, tool, looking, look);
}

/** Verbs before which the uncommitted work of a session that is alone is saved, too. */
const DESTRUCTIVE = /\b(?:reset|checkout|restore|clean|stash|read-tree)\b/;

/** A look that is not needed after all costs nothing but a process. */
async function lookAhead(
  scene: Scene,
  tool: Extract<ToolCall, { kind: 'shell' | 'argv' }>,
): Promise<Look | undefined> {
  const text = tool.kind === 'shell' ? tool.command : tool.argv.join(' ');
  if (!text.includes('git') || !DESTRUCTIVE.test(text)) return undefined;
  const { lookOnce } = await import('./look-once.ts');
  const look = lookOnce(scene);
  void look();
  return look;
}

/** A file tool that may go on as far as handoff files are concerned: the ledger has its say. */
async function fileTool(scene: Scene, tool: ToolCall, verdict: Verdict): Promise<Verdict> {
  const { session } = scene.event;
  const decided = scene.settings.enabled === false ? ALLOW : verdict;
  if (stands(scene, decided) || session === undefined) return decided;
  const paths = toolPaths(tool).map((path) => toolPath(scene, path));
  const hooks = await hookFiles(scene, session, paths);
  if (stands(scene, hooks)) return hooks ?? decided;
  return combined(decided, await quietly(scene, () => beforeFiles(scene, session, paths)));
}

/** Names that our hooks and git's configuration have, wherever they lie. */
const HOOK_NAME =
  /\/(?:pre-commit|commit-msg|prepare-commit-msg|pre-push)(?:\.legacy)?$|\/config(?:\.worktree)?$/;

/** Most files are no hooks. */
async function hookFiles(
  scene: Scene,
  session: SessionId,
  paths: readonly string[],
): Promise<Verdict | undefined> {
  if (!paths.some((path) => HOOK_NAME.test(realPath(path, true)))) return undefined;
  return quietly(scene, async () => {
    const { refuseHookFiles } = await import('./checks/hook-files.ts');
    return refuseHookFiles(scene, session, paths);
  });
}

function touchFile(scene: Scene, path: string, act: MarkerAct, edits: readonly Replacement[] = []): Verdict {
  const target = toolPath(scene, path);
  if (isHandoffRefFile(realPath(target), false)) {
    return { kind: 'deny', reason: refRefusal({ ref: target, by: scene.event.toolName ?? 'the tool' }) };
  }
  const guarded = scene.files.reachedBy(target, true);
  if (guarded === undefined) return ALLOW;
  const result =
    edits.length === 0 ? {} : { result: replaced(readBeginning(guarded, MAX_NOTE) ?? '', edits) };
  return decideGuarded(scene, guarded, { ...act, ...result }, scene.event.toolName ?? act.kind);
}

/** What of a note is looked at for what an edit makes of its first line. Bytes. */
const MAX_NOTE = 1 << 20;

function patchedFile(scene: Scene, file: PatchedFile): Verdict[] {
  const moved = file.moveTo === undefined ? [] : [touchFile(scene, file.moveTo, { kind: 'edit' })];
  if (file.change === 'add') {
    const content = file.firstLine ?? '';
    const verdict = touchFile(scene, file.path, { kind: 'write', content });
    if (verdict.kind !== 'rewrite') return [verdict, ...moved];
    // A patch cannot be rewritten without approving it: the writer is told the line instead.
    const guarded = scene.files.reachedBy(toolPath(scene, file.path), true) ?? file.path;
    const unmarked = markerOwner(content) === undefined ? 'marker-missing' : 'foreign';
    const marked = scene.files.read(guarded);
    return [
      markerDenial(markerRefusal(unmarked, marked, scene.event.session, 'apply_patch'), marked),
      ...moved,
    ];
  }
  if (file.change === 'delete') {
    return [...removePath(scene, toolPath(scene, file.path), scene.event.toolName ?? 'the tool'), ...moved];
  }
  return [touchFile(scene, file.path, { kind: 'edit', result: file.firstLine }), ...moved];
}
