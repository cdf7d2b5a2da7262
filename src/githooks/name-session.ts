import { appendFileSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  type MessageParts,
  type Trailers,
  messageParts,
  missingTrailers,
  notedModel,
} from '../domain/commit-message.ts';
import { type SessionId, shortId } from '../domain/names.ts';
import { runGit } from '../git/run.ts';
import { readJournal } from '../sessions/journal.ts';
import { type HookAnswer, type HookCall, PASSED, commentStart, settingsOf } from './hook-call.ts';
import { committerOf, isReplaying } from './whose-commit.ts';

/**
 * Names the session in the message of its commit, if git opens no editor.
 *
 * @param checked what the check of this commit has found; `undefined` if none was made
 * @throws Failure when git fails
 */
export async function nameInPrepared(call: HookCall, checked: HookAnswer | undefined): Promise<void> {
  const [file = '', source = ''] = call.args;
  if (isReplaying(call.gitDir)) return;
  const message = await readMessage(call, file, checked);
  // git itself refuses an empty message.
  if (message?.parts.hasText !== true) return;
  // A message that comes from another commit (amend, -C, cherry-pick -n) keeps the session id that it names.
  const isOfAnother = !['message', 'template', ''].includes(source);
  if (isOfAnother && message.parts.namesSession) return;
  await addTrailers(call, message);
}

/**
 * Names the session in a message that comes from an editor. Refuses a message that has only trailers: git would take one
 * for the subject, and make the commit that the user meant to abort.
 *
 * @throws Failure when git fails
 */
export async function nameInEdited(call: HookCall): Promise<HookAnswer> {
  const [file = ''] = call.args;
  if (isReplaying(call.gitDir)) return PASSED;
  const message = await readMessage(call, file, undefined);
  if (message === undefined) return PASSED;
  const { hasText, namesSession, namesModel } = message.parts;
  if (!hasText) {
    // If the message has none of our trailers, git itself sees that it is empty.
    if (!namesSession && !namesModel) return PASSED;
    const lines = ['Aborting commit due to empty commit message.'];
    return { refused: true, session: message.session, lines };
  }
  // An amended commit keeps the session id that its message already has.
  if (!namesSession) await addTrailers(call, message);
  return PASSED;
}

interface Message {
  readonly file: string;
  readonly session: SessionId;
  readonly trailers: Trailers;
  readonly parts: MessageParts;
  readonly comment: string;
}

/** Reads the message of a session's commit; `undefined` if the commit is a person's or its message gets no trailers. */
async function readMessage(
  call: HookCall,
  name: string,
  checked: HookAnswer | undefined,
): Promise<Message | undefined> {
  // We read the settings while we find out whose commit it is.
  const asked = settingsOf(call);
  asked.catch(() => undefined);
  const session = await committer(call, checked);
  if (session === undefined) return undefined;
  const { enabled, trailer, assistedBy } = await asked;
  const assisted = assistedBy
    ? notedModel(readJournal(call.commonDir, session).model?.name ?? '')
    : undefined;
  const trailers = {
    ...(trailer === 'off' ? {} : { 'Claude-Session-Id': trailer === 'short' ? shortId(session) : session }),
    ...(assisted === undefined ? {} : { 'Assisted-by': assisted }),
  };
  if (enabled !== true || Object.keys(trailers).length === 0) return undefined;
  const file = resolve(call.cwd, name);
  const comment = await commentStart(call);
  const bytes = Buffer.from(comment).toString('latin1');
  const parts = messageParts(readFileSync(file, 'latin1'), session, bytes);
  return { file, session, trailers, parts, comment };
}

async function committer(call: HookCall, checked: HookAnswer | undefined): Promise<SessionId | undefined> {
  if (checked !== undefined && checked.isUnknown !== true) return checked.session;
  const { earlier } = call;
  return earlier === undefined || earlier.committer === 'unknown' ? committerOf(call) : earlier.committer;
}

async function addTrailers(call: HookCall, { file, trailers, parts, comment }: Message): Promise<void> {
  const lines = missingTrailers(trailers, parts);
  if (lines.length === 0) return;
  // git merge writes no newline at the end of its message, and git 2.39 would put the trailer into the last paragraph.
  if (parts.isTorn) appendFileSync(file, '\n');
  if (parts.isPlain) appendFileSync(file, ['', ...lines, ''].join('\n'));
  // git before 2.45 refuses a comment string of several characters.
  else if (!(await interpretTrailers(call, comment, file, lines)))
    await interpretTrailers(call, '#', file, lines);
}

/**
 * Lets git put the trailers where they belong, without any configuration: the user's could drop or rename them, and a
 * repository's `trailer.<key>.command` would run. GIT_DIR names no repository, so git reads no repository's configuration.
 */
async function interpretTrailers(
  { cwd, budget }: HookCall,
  comment: string,
  file: string,
  lines: readonly string[],
): Promise<boolean> {
  const start = comment === 'auto' || comment === '' ? '#' : comment;
  const how = ['--in-place', '--no-divider', '--where=end', '--if-exists=addIfDifferent', '--if-missing=add'];
  const trailers = lines.map((line) => `--trailer=${line}`);
  const words = ['-c', `core.commentChar=${start}`, 'interpret-trailers', ...how, ...trailers, file];
  const { code } = await runGit(words, { cwd, env: WITHOUT_CONFIGURATION, timeoutMs: budget.left() });
  return code === 0;
}

const WITHOUT_CONFIGURATION = {
  GIT_CONFIG_PARAMETERS: undefined,
  GIT_CONFIG_COUNT: undefined,
  GIT_DIR: '/dev/null',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};
