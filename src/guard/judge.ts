import type { BypassKey } from '../domain/bypass.ts';
import { escapeLine } from '../domain/messages.ts';
import { exists } from '../host/disk.ts';
import { bypassFolder } from '../host/folders.ts';
import { whileJudging } from '../host/io.ts';
import { traced } from '../host/log.ts';
import { changedCopies, forgetCopy, listCopies, rememberFiles } from '../notes/guarded-files.ts';
import { consumeBypass, dropAbandonedBypasses, endBypass, readConsumed } from '../sessions/bypass.ts';
import { recordBypass, recordRefusal } from '../sessions/happenings.ts';
import {
  type Call,
  commandText,
  type Effect,
  failOpen,
  type Finding,
  isInTree,
  isRefused,
  type Permission,
  type Refusal,
  toolPaths,
  type TreeCall,
  windowId,
} from './call.ts';
import { leave } from './visits.ts';

/** One rule of the guard. A check only judges: if something has to be written, it returns an effect that writes it. */
export interface Check<C extends Call, Facts> {
  readonly rule: string;
  /** Whether there is anything to judge. Every call asks this, so it starts no process. */
  readonly when: (call: C, facts: Facts) => boolean;
  readonly judge: Judge<C, Facts>;
}

export type Judge<C extends Call, Facts> = (
  call: C,
  facts: Facts,
) => readonly Finding[] | Promise<readonly Finding[]>;

/** The call as it concerns one worktree, with the facts known there. */
export interface CheckTarget<Facts> {
  readonly call: TreeCall;
  readonly facts: Facts;
}

/** The checks of a call: those that apply wherever it is made, and those for each worktree that it touches. */
interface Question<Anywhere, InTree> {
  readonly anywhere: readonly Check<Call, Anywhere>[];
  readonly facts: Anywhere;
  readonly inTrees: readonly Check<TreeCall, InTree>[];
  readonly trees: () => readonly CheckTarget<InTree>[] | Promise<readonly CheckTarget<InTree>[]>;
  /** The call as it concerns each worktree in which it may have put the session on record. */
  readonly visits?: readonly TreeCall[];
}

/** Asks the checks in order, until one refuses the call (unless a person has allowed it). Then runs the checks' effects. */
export async function judge<Anywhere, InTree>(
  call: Call,
  { anywhere, facts, inTrees, trees, visits = [] }: Question<Anywhere, InTree>,
): Promise<readonly Finding[]> {
  const permissionIn = rememberPermissions();
  const judged = async () => {
    const found = await ask(anywhere, call, facts, permissionIn(call));
    for (const { call: there, facts: known } of isRefused(found) ? [] : await trees()) {
      found.push(...(await ask(inTrees, there, known, permissionIn(there))));
      const refusal = found.find((one) => one.kind === 'refuse');
      if (refusal === undefined) continue;
      // We also log the refusal in the repository whose work it protects.
      if (there.tree.commonDir !== call.tree?.commonDir)
        there.log('deny', `${call.event.toolName ?? ''}: ${refusal.text}`);
      break;
    }
    return found;
  };
  const found = await whileJudging(judged);
  if (isRefused(found) && visits.length > 0)
    await failOpen(call, 'work in another worktree', async () => {
      // The visits of a refused call end, except where the session has other work.
      for (const there of visits) await leave(there);
    });
  noteRefusal(call, found);
  return [...found, ...(await done(found))];
}

function noteRefusal({ session, tree, now, log }: Call, found: readonly Finding[]): void {
  const { text, asked } = found.find((one) => one.kind === 'refuse') ?? {};
  const { commonDir } = asked?.place ?? tree ?? {};
  if (text === undefined || commonDir === undefined) return;
  recordRefusal({ commonDir, session, text, asked, now }, log);
}

/** Remembers permissions by repository: what a person allowed in one repository is not allowed in another. */
function rememberPermissions(): (call: Call) => Permission {
  const known = new Map<string | undefined, Permission>();
  return (call) => {
    const repository = call.tree?.commonDir;
    const permission =
      known.get(repository) ??
      (isInTree(call) && hasBypass(call) ? bypassFor(call) : () => Promise.resolve(false));
    known.set(repository, permission);
    return permission;
  };
}

/** Whether a person has left a bypass in the repository, or one is in use. */
export function hasBypass({ tree }: Call): boolean {
  return tree !== undefined && exists(bypassFolder(tree.commonDir));
}

async function ask<C extends Call, Facts>(
  checks: readonly Check<C, Facts>[],
  call: C,
  facts: Facts,
  isAllowed: Permission,
): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const check of checks) {
    if (!check.when(call, facts)) continue;
    const judging = async () => check.judge(call, facts);
    const { rule } = check;
    const findings = await failOpen(call, `the rule ${rule}`, () => traced('check', rule, judging, kindsOf));
    for (const finding of findings ?? []) {
      if (finding.kind === 'refuse' && (await isAllowed(finding))) continue;
      found.push(finding.kind === 'do' ? { ...finding, run: effectOf(rule, call, finding) } : finding);
      if (finding.kind === 'refuse') return found;
    }
  }
  return found;
}

/** Lists the kinds of findings, for a trace. */
const kindsOf = (findings: readonly Finding[]) =>
  findings.map(({ kind }) => (kind === 'do' ? 'effect' : kind)).join(', ') || 'nothing';

/** Wraps an effect, so that traces and errors name the rule that returned it. */
const effectOf =
  (rule: string, call: Call, { run }: Effect) =>
  async () =>
    (await failOpen(call, `what the rule ${rule} does`, () => traced('effect', rule, run, kindsOf))) ?? [];

async function done(found: readonly Finding[]): Promise<readonly Finding[]> {
  const refused = isRefused(found);
  const more: Finding[] = [];
  for (const effect of found) {
    if (effect.kind !== 'do' || (refused && effect.when === 'allowed')) continue;
    more.push(...(await effect.run()));
  }
  return more;
}

/**
 * A person's bypass lets one tool call do what the guard would refuse. The first refusal that a bypass lifts uses the bypass up,
 * but further refusals of the same call are lifted, too.
 */
function bypassFor(call: TreeCall): Permission {
  const { session, now, event, tree } = call;
  const key = keyOf(call);
  dropAbandonedBypasses(tree.commonDir, session, key, now);
  let isAllowed = false;
  return async ({ text, owners, allowedBy }) => {
    if (allowedBy === 'nobody') return false;
    if (isAllowed) return true;
    const consumed = consumeBypass(tree.commonDir, { session, key, files: allowedBy === 'files', now });
    if (consumed === undefined) return false;
    isAllowed = true;
    call.log('bypass', `let through: ${event.toolName ?? ''}: ${text}`);
    if (consumed === 'now') await notify(call, owners);
    return true;
  };
}

/** Handles every event except before-tool, and ends a bypass with the call that consumed it. */
export async function besideBypass(
  call: TreeCall,
  handle: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const { event, session, tree, now } = call;
  if (event.kind === 'after-tool') return afterCall(call, handle);
  // If the turn has ended, no call is running.
  if (/^(?:session-start|session-end|stop)$/.test(event.kind))
    endBypass(tree.commonDir, session, undefined, now);
  return handle();
}

function keyOf(call: Call): Extract<BypassKey, { kind: 'call' }> {
  return { kind: 'call', id: windowId(call), agent: call.event.agent ?? '' };
}

async function notify(call: TreeCall, owners: Refusal['owners']): Promise<void> {
  const { session, tree, now, budget, log } = call;
  const text = (who: string) =>
    `A person allowed ${who} one refused action: ${deed(call)}. To see the result: git handoff status`;
  const done = { ...tree, cwd: tree.workTree, session, owners, text, now, log };
  await recordBypass({ ...done, timeoutMs: budget.left() });
}

async function afterCall(
  call: TreeCall,
  handle: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const { session, tree, now } = call;
  const { id } = keyOf(call);
  const used = readConsumed(tree.commonDir, session).find(
    (one) => one.key.kind === 'call' && one.key.id === id,
  );
  try {
    // A person allowed these changes of handoff files, so we neither report nor undo them.
    if (used?.files === true) await acceptChanges(tree.folder);
    return await handle();
  } finally {
    endBypass(tree.commonDir, session, id, now);
  }
}

async function acceptChanges(cwd: string): Promise<void> {
  const repository = { cwd };
  const changed = async () => changedCopies(repository, await listCopies(repository));
  await rememberFiles(
    cwd,
    (await changed()).map(({ path }) => path),
  );
  // If a copy still differs, its file has been deleted.
  for (const copy of await changed()) await forgetCopy(repository, copy);
}

const MAX_DEED = 160;

/** Describes the tool call in one line. */
function deed({ event }: Call): string {
  const { tool, toolName = 'a tool' } = event;
  if (tool === undefined) return escapeLine(toolName);
  const text = commandText(tool) ?? toolPaths(tool).join(', ');
  const line = escapeLine(text.replaceAll('\n', ' '));
  return `${escapeLine(toolName)} ${line.length > MAX_DEED ? `${line.slice(0, MAX_DEED)}…` : line}`;
}
