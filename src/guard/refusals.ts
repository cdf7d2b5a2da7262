import type { IdentityEffect, RefEffect } from '../shell/effects.ts';
import { type MarkerDecision, type MarkerFile, markerLine } from '../domain/marker.ts';
import { type SessionId, parseTopic, shortId } from '../domain/names.ts';
import { escapeLine } from '../domain/surfacing.ts';

/** What the guard says when it refuses: who, what, and what to do instead. The reader is an agent. */

/** A refusal about one of the predecessors' handoff files. */
export function markerRefusal(
  why: Extract<MarkerDecision, { kind: 'deny' }>['why'],
  file: MarkerFile,
  session: SessionId | undefined,
  by: string,
): string {
  const name = `\`${escapeLine(file.name)}\``;
  switch (why) {
    case 'grammar':
      return (
        `Handoff filename rejected by grammar: ${name}. It must be handoff-<branch>-<topic>.md with a topic of ` +
        'two or more lower-case words, for example `handoff-main-auth-refresh.md` or `handoff-feat-search-index-v1.md`.'
      );
    case 'foreign':
      return (
        `Foreign session owns ${name}. Prior owner: session \`${escapeLine(shortId(file.owner ?? ''))}\`. ` +
        `Your session: \`${shortId(session ?? 'unknown')}\`. Nothing was changed. ${ownNote(file)}`
      );
    case 'no-marker':
      return (
        `Edit on legacy handoff (no ownership marker): ${name}. Read it, then Write the whole file with this as ` +
        `line 1 to take it over:\n  ${marker(session)}`
      );
    case 'marker-missing':
      return (
        'Handoff write missing or wrong ownership marker.\n' +
        `Your session_id: \`${session ?? 'unknown'}\`.\nPrepend exactly this as line 1:\n  ${marker(session)}\nThen retry.`
      );
    case 'shell':
      return (
        `The shell command would change the handoff file ${name} (${escapeLine(by)}), which this session does not ` +
        `own. Use the Write tool, with this as line 1:\n  ${marker(session)}`
      );
  }
}

function marker(session: SessionId | undefined): string {
  return session === undefined ? '<!-- claude-session: <your session id> -->' : markerLine(session);
}

function ownNote(file: MarkerFile): string {
  const topic = parseTopic(`${file.name.replace(/^handoff-[a-z0-9]+-|\.md$/g, '')}-cont`);
  const name = topic ?? 'your-topic';
  return `Leave your own note beside it instead: git handoff write ${name} -m '<what the next session must know>'`;
}

/** A refusal about refs that only `git handoff` may move. */
export function refRefusal(effect: Pick<RefEffect, 'ref' | 'by'>): string {
  return (
    `${escapeLine(effect.by)} would change ${escapeLine(effect.ref)} behind git-handoff's back, and another ` +
    "session's note could be lost. Look at it with: git handoff list --all; change it with: git handoff write, take " +
    'or close <branch>/<topic>. To get handoffs from a remote, fetch into refs/handoffs-remote/<remote>/*.'
  );
}

/** A refusal about a command that changes who the session is. */
export function identityRefusal(effect: IdentityEffect, session: SessionId | undefined): string {
  const who = session === undefined ? '' : ` This session is \`${shortId(session)}\`.`;
  if (effect.kind === 'variable' && effect.name === 'GIT_HANDOFF') {
    return `${escapeLine(effect.by)} sets GIT_HANDOFF, which switches the guard off; that is for people. Run the command without it.`;
  }
  return effect.kind === 'variable'
    ? `${escapeLine(effect.by)} changes ${effect.name}, which tells whose work this is.${who} Run the command without that change.`
    : `--session ${escapeLine(effect.value)} is another session.${who} Run the command without --session; who you are is known.`;
}

/** A refusal to a session that wants to do what a person's consent is asked for. */
export function personsRefusal(): string {
  return 'That command is typed by a person, in a terminal of their own. Tell the user what you need and why, and go on with something else.';
}

/** A refusal to a sub-agent that writes over what it has not seen. */
export function unseenRefusal(name: string): string {
  return (
    `${name} moved since this sub-agent last saw it; its text would replace one it has not read. ` +
    `Read it first: git handoff show ${name}; then write again.`
  );
}
