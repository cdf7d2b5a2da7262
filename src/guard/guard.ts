import type { Dialect, GuardEvent } from '../agents/dialect.ts';
import { clientOf, dialectFor } from '../agents/index.ts';
import { type SettingEntry, parseSettings } from '../domain/settings.ts';
import { plainConfig } from '../git/config.ts';
import { type FoundRepository, discoverRepository } from '../git/discover.ts';
import { realPath } from '../host/disk.ts';
import { ensureFolder, homeFolder, isInitialised, repositoryFolder, stateFolder } from '../host/folders.ts';
import { type Budget, beforeAnswer, inTime, runningCall } from '../host/io.ts';
import { appendLog, trace } from '../host/log.ts';
import { markerFiles } from '../host/marker-files.ts';
import { keptTable } from '../host/processes.ts';
import { ofItsSession } from './agents.ts';
import { type Call, type Finding, verdict } from './call.ts';
import { noteHarmlessCall } from './harmless-call.ts';

interface ClientCall {
  /** The payload, as the client sent it. */
  readonly text: string;
  readonly client: string | undefined;
  readonly clientPid: number;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly budget: Budget;
}

/**
 * Decides one hook call and returns the bytes for stdout; an empty text allows the call. It never throws and never answers
 * late: if something goes wrong or takes too long, it logs a line and allows the call.
 */
export async function guard(received: ClientCall): Promise<string> {
  let client = received.client ?? '';
  let folder = stateFolder(received.env);
  let event: GuardEvent | undefined;
  const log = (kind: string, detail: string) => {
    const { name = '', session = '' } = event ?? {};
    appendLog(folder, { event: name, client, session, kind, detail });
    trace('log', () => `${kind}: ${detail}`);
  };
  try {
    const payload: unknown = JSON.parse(withoutMark(received.text));
    client = clientOf(received.client, payload);
    const dialect = dialectFor(client);
    client = dialect.client;
    event = dialect.parse(payload, received.env);
    if (event === undefined) throw new Error('no payload of this client');
    if (event.startedBy !== undefined) event = ofItsSession(event, folder);
    const { env, budget } = received;
    const cwd = event.cwd ?? received.cwd;
    // A call may turn out to need no decision only if it runs a command.
    const mayBeHarmless = event.tool?.kind === 'shell';
    const early = mayBeHarmless ? undefined : readEntries(cwd, budget, log);
    const repository = await findRepository(cwd, env);
    if (
      mayBeHarmless &&
      repository !== undefined &&
      (await noteHarmlessCall({ event, repository, env, home: homeFolder(env) }))
    ) {
      if (event.model !== undefined) {
        const { noteModel } = await import('./presence.ts');
        noteModel(repository.commonDir, event, client, { now: received.now, log });
      }
      trace('verdict', () => `${event?.name ?? ''}: allow, a lone session's command endangers nothing`);
      return '';
    }
    const unchecked = new Set<string>();
    const report = { log, notChecked: (what: string) => unchecked.add(what) };
    const asking = early ?? readEntries(cwd, budget, log);
    const call = await readCall(received, dialect, event, { repository, asking }, report);
    folder = ownFolder(call) ?? folder;
    const found = await judgeInTime(call);
    const answer = verdict([...found, ...notChecked(event, unchecked)]);
    trace('verdict', () => `${event?.name ?? ''} ${event?.toolName ?? ''}: ${answer.kind}`);
    if (answer.kind === 'deny') log('deny', `${event.toolName ?? ''}: ${answer.reason}`);
    return dialect.render(answer, event, payload);
  } catch (error) {
    log('error', error instanceof Error ? error.message : String(error));
    return '';
  }
}

/** These modules load while git reads the settings. A call that needs no decision does not load them. */
const loadDecisions = () => import('./decide.ts');
const loadAnalysis = () => import('./before-command.ts');

/** Removes the byte order mark that some writers put before a text, because JSON does not allow it. */
const withoutMark = (text: string) => (text.startsWith('\u{FEFF}') ? text.slice(1) : text);

type SettingsAnswer = Promise<readonly SettingEntry[] | undefined>;

/** Asks git for the settings; `undefined` when git does not answer. */
function readEntries(cwd: string, budget: Budget, log: Call['log']): SettingsAnswer {
  // git gets half of the time: if it hangs, there must be time left to decide without settings.
  return plainConfig({ cwd, timeoutMs: beforeAnswer(budget) / 2 }).catch((error: unknown) => {
    log('open', `settings unread: ${String(error)}`);
    return undefined;
  });
}

async function readCall(
  received: ClientCall,
  dialect: Dialect,
  event: GuardEvent,
  { repository, asking }: Pick<Call, 'repository'> & { readonly asking: SettingsAnswer },
  report: Pick<Call, 'log' | 'notChecked'>,
): Promise<Call> {
  const { env, clientPid, now, budget } = received;
  const home = homeFolder(env);
  const cwd = event.cwd ?? received.cwd;
  await loadDecisions();
  if (event.kind === 'before-tool' && event.tool?.kind === 'shell') await loadAnalysis();
  const answer = await asking;
  const entries: readonly SettingEntry[] = answer ?? [];
  const settings = parseSettings(entries);
  // If git hangs, we still judge the call: otherwise everything would pass. If git is missing, we cannot judge it.
  const isLate = answer === undefined && runningCall()?.hadToEndChild === true;
  const isEnabled =
    settings.enabled === true || (isLate && repository !== undefined && isInitialised(repository.commonDir));
  const tree = isEnabled && repository !== undefined ? { ...repository, folder: cwd } : undefined;
  const files = markerFiles(home, env, settings.guardPath);
  const machine = { env, home, clientPid, processes: keptTable(), files };
  const { session } = event;
  const place = { cwd, repository, tree, settings, entries };
  return { event, dialect, session, machine, ...place, now, budget, ...report };
}

/** Returns our folder in the repository; `undefined` if it cannot be made. A decision does not need the folder. */
function ownFolder({ tree }: Call): string | undefined {
  if (tree === undefined) return undefined;
  const folder = repositoryFolder(tree.commonDir);
  try {
    ensureFolder(folder);
    return folder;
  } catch {
    return undefined;
  }
}

/** Finds the repository. If `GIT_DIR` is set, asks git, because only git can interpret such variables. */
async function findRepository(cwd: string, env: NodeJS.ProcessEnv): Promise<FoundRepository | undefined> {
  // We look from the real path, because the paths of tools are compared as real paths.
  const found = env['GIT_DIR'] === undefined ? discoverRepository(realPath(cwd)) : undefined;
  if (found !== undefined || env['GIT_DIR'] === undefined) return found;
  const { openRepository } = await import('../git/repository.ts');
  const opened = await openRepository(cwd).catch(() => undefined);
  return opened === undefined
    ? undefined
    : { workTree: cwd, gitDir: opened.gitDir, commonDir: opened.commonDir };
}

async function judgeInTime(call: Call): Promise<readonly Finding[]> {
  const { decide } = await loadDecisions();
  const found = await inTime(decide(call), call.budget);
  if (found !== 'late') return found;
  call.log('open', 'past the deadline');
  if (call.tree !== undefined) call.notChecked('this call, because git did not answer in time');
  return [];
}

/** Returns the notice about what was not checked. Only at a tool call can the session read it and then go on. */
function notChecked({ kind }: GuardEvent, unchecked: ReadonlySet<string>): readonly Finding[] {
  if (unchecked.size === 0 || (kind !== 'before-tool' && kind !== 'after-tool')) return [];
  return [{ kind: 'tell', text: `git-handoff: not checked: ${[...unchecked].join('; ')}` }];
}
