import type { ToolCall, Verdict } from '../../agents/dialect.ts';
import {
  type MarkerAct,
  type MarkerFile,
  decideMarkerFile,
  markerFileName,
  markerOwner,
  overlappingFiles,
  withMarker,
} from '../../domain/marker.ts';
import { parseSessionId } from '../../domain/names.ts';
import type { PatchedFile } from '../../domain/patch.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { isHandoffRefFile } from '../../git/discover.ts';
import { absolutePath, realPath } from '../../host/disk.ts';
import { siblingNames } from '../../host/marker-files.ts';
import { isSolo } from '../../store/solo.ts';
import { beforeFiles } from './ledger/before-file.ts';
import { quietly } from './quietly.ts';
import { markerRefusal, refRefusal } from './refusals.ts';
import type { Look } from './look-once.ts';
import type { Scene } from './scene.ts';

const ALLOW: Verdict = { kind: 'allow' };

/** Decides a tool call before it runs. */
export async function beforeTool(scene: Scene): Promise<Verdict> {
  const verdict = await decideTool(scene);
  const { session, tool = { kind: 'other' } } = scene.event;
  const isStrict = scene.enabled && scene.settings.headCheck === 'strict' && tool.kind !== 'other';
  if (!isStrict || stands(scene, verdict) || session === undefined) return verdict;
  const { headVerdict } = await import('./ledger/strict-head.ts');
  return combined(verdict, await headVerdict(scene, session));
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
      return fileTool(scene, tool, touchFile(scene, tool.path, { kind: 'edit' }));
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
          const { lookBefore } = await import('./ledger/look-before.ts');
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

/** A refusal that nobody has lifted: nothing more need be looked at. */
export function stands(scene: Scene, verdict: Verdict | undefined): boolean {
  return verdict?.kind === 'deny' && scene.lifted !== true;
}

/** A file tool that may go on as far as handoff files are concerned: the ledger has its say. */
async function fileTool(scene: Scene, tool: ToolCall, verdict: Verdict): Promise<Verdict> {
  const { session } = scene.event;
  if (stands(scene, verdict) || !scene.enabled || session === undefined) return verdict;
  const paths = toolPaths(tool).map((path) => toolPath(scene, path));
  return combined(verdict, await quietly(scene, () => beforeFiles(scene, session, paths)));
}

/** One answer of two: a refusal counts, then what reaches the model. */
export function combined(verdict: Verdict, more: Verdict | undefined): Verdict {
  if (more === undefined || more.kind === 'allow') return verdict;
  if (more.kind === 'context' && verdict.kind === 'rewrite') {
    const context = [verdict.context, more.text].filter((text) => text !== undefined).join('\n');
    return { ...verdict, context };
  }
  if (more.kind === 'context' && verdict.kind === 'context') {
    return { kind: 'context', text: `${verdict.text}\n${more.text}` };
  }
  return more;
}

/** The path a file tool names, absolute. */
export function toolPath(scene: Scene, path: string): string {
  return absolutePath(path, scene.cwd, scene.home);
}

/** Paths that a file tool names, for what happens after it. */
export function toolPaths(tool: ToolCall): string[] {
  if (tool.kind === 'write' || tool.kind === 'edit') return [tool.path];
  return tool.kind === 'patch' ? tool.files.flatMap(({ path, moveTo = path }) => [path, moveTo]) : [];
}

function touchFile(scene: Scene, path: string, act: MarkerAct): Verdict {
  const target = toolPath(scene, path);
  if (isHandoffRefFile(realPath(target), false)) {
    return { kind: 'deny', reason: refRefusal({ ref: target, by: scene.event.toolName ?? 'the tool' }) };
  }
  const guarded = scene.files.reachedBy(target, true);
  return guarded === undefined ? ALLOW : decideGuarded(scene, guarded, act, scene.event.toolName ?? act.kind);
}

/** Decides an act on a guarded file that was found. */
export function decideGuarded(scene: Scene, path: string, act: MarkerAct, by: string): Verdict {
  const file = scene.files.read(path);
  const { session } = scene.event;
  // Only the predecessors' own files have a grammar; further guarded ones are owned by their marker alone.
  const named = markerFileName(path) === undefined ? { ...file, name: 'handoff-any-free-name.md' } : file;
  const mode = scene.dialect.canRewrite(scene.env) ? scene.settings.marker : 'handshake';
  const decision = decideMarkerFile(named, act, session, mode);
  switch (decision.kind) {
    case 'deny':
      return markerDenial(markerRefusal(decision.why, file, session, by), file);
    case 'insert-marker':
      if (act.kind !== 'write' || session === undefined) return ALLOW;
      return { kind: 'rewrite', content: withMarker(act.content, session), ...overlap(path, file.exists) };
    case 'allow': {
      const notice = overlap(path, file.exists || act.kind !== 'write');
      return notice.context === undefined ? ALLOW : { kind: 'notice', text: notice.context };
    }
  }
}

function markerDenial(reason: string, { owner }: MarkerFile): Verdict {
  const known = parseSessionId(owner);
  return { kind: 'deny', reason, owners: known === undefined ? [] : [known], aboutFiles: true };
}

/** A new file beside one that is probably about the same work. */
function overlap(path: string, exists: boolean): { context?: string } {
  const name = markerFileName(path);
  if (exists || name === undefined) return {};
  const related = overlappingFiles(name, siblingNames(path));
  if (related.length === 0) return {};
  return {
    context: `Sibling-overlap notice: ${related.map(escapeLine).join(', ')} may be about the same work. (Write proceeds.)`,
  };
}

/** Decides the removal, by name, of a file or of a folder with what is below it. */
export function removePath(scene: Scene, path: string, by: string): Verdict[] {
  if (isHandoffRefFile(realPath(path, false), true)) {
    return [{ kind: 'deny', reason: refRefusal({ ref: path, by }) }];
  }
  return scene.files.below(path).map((file) => decideGuarded(scene, file, { kind: 'remove' }, by));
}

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
  return [touchFile(scene, file.path, { kind: 'edit' }), ...moved];
}

/** The first refusal of several verdicts; else the first that says anything. */
export function firstRefusal(verdicts: readonly Verdict[]): Verdict {
  return (
    verdicts.find((verdict) => verdict.kind === 'deny') ??
    verdicts.find((verdict) => verdict.kind !== 'allow') ??
    ALLOW
  );
}
