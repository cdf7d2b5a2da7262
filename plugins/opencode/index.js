// git-handoff's plugin for OpenCode. `git handoff init` copies it into OpenCode's folder, `git handoff uninstall` removes it.
import { spawn } from 'node:child_process';

/** `git handoff init` may replace this command, to name its own launcher. */
// prettier-ignore
const COMMAND = "command -v git-handoff >/dev/null 2>&1 || exit 0; exec git-handoff guard --client opencode";

/** Tools that change nothing. */
const READERS = /^(read|grep|glob|list|webfetch|websearch|task|todo\w*|skill|question)$/;

/** What the guard prints for an event: nothing when it has nothing to say, or cannot be started. */
function ask(event, session, cwd, fields) {
  return new Promise((resolve) => {
    let answer = '';
    const child = spawn('/bin/sh', ['-c', COMMAND], {
      cwd,
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: 10000,
    });
    child.on('error', () => resolve(''));
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (chunk) => (answer += chunk));
    child.on('close', () => resolve(answer));
    child.stdin.end(JSON.stringify({ hook_event_name: event, session_id: session, cwd, ...fields }));
  });
}

/** The plugin. It throws to refuse a tool call, and for no other reason. */
export const GitHandoff = async ({ client, directory }) => {
  const roots = new Map();
  /** What each session is told when it starts. */
  const starts = new Map();
  /** The session itself or, for the session of a sub-agent, the main agent's session. */
  const rootOf = async (id) => {
    if (!roots.has(id)) {
      const parent = (await client.session.get({ path: { id } })).data?.parentID;
      roots.set(id, parent ? await rootOf(parent) : id);
    }
    return roots.get(id);
  };
  const guard = async (event, session, fields = {}) => {
    try {
      const root = await rootOf(session);
      const own = root === session ? fields : { agent_id: session, ...fields };
      return JSON.parse((await ask(event, root, directory, own)) || '{}');
    } catch {
      return {};
    }
  };
  const call = ({ tool, callID }, args) => ({ tool_name: tool, tool_use_id: callID, tool_input: args });
  return {
    event: async ({ event }) => {
      const { info } = event.properties ?? {};
      if (event.type === 'session.deleted' && !info.parentID) await guard('session.deleted', info.id);
    },
    'chat.message': async ({ sessionID }) => {
      if (starts.has(sessionID)) return;
      starts.set(sessionID, '');
      if ((await rootOf(sessionID).catch(() => undefined)) !== sessionID) return;
      const { tell } = await guard('chat.message', sessionID);
      if (tell) starts.set(sessionID, tell);
    },
    'experimental.chat.system.transform': async ({ sessionID }, { system }) => {
      const tell = starts.get(sessionID);
      if (tell) system.push(tell);
    },
    'tool.execute.before': async (input, { args }) => {
      if (READERS.test(input.tool)) return;
      const { deny } = await guard('tool.execute.before', input.sessionID, call(input, args));
      if (deny) throw new Error(deny);
    },
    'tool.execute.after': async (input, result) => {
      if (READERS.test(input.tool)) return;
      const { tell } = await guard('tool.execute.after', input.sessionID, {
        ...call(input, input.args),
        tool_response: { exit: result?.metadata?.exit },
        tool_output: result?.output,
      });
      if (tell && typeof result?.output === 'string') result.output += `\n\n${tell}`;
      else if (tell && Array.isArray(result?.content)) result.content.push({ type: 'text', text: tell });
    },
    'experimental.session.compacting': async ({ sessionID }) => {
      await guard('session.compacting', sessionID);
    },
    'shell.env': async ({ sessionID }, { env }) => {
      const root = sessionID ? await rootOf(sessionID).catch(() => undefined) : undefined;
      if (root) env.GIT_HANDOFF_SESSION = root;
    },
  };
};
