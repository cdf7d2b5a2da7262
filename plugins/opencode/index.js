// Made by `git handoff init`, taken out by `git handoff uninstall`.
import { spawn } from 'node:child_process';

const settings = {
  "hooks": {
    "chat.message": [
      {
        "command": "command -v git-handoff >/dev/null 2>&1 || exit 0; exec git-handoff guard --client opencode"
      }
    ],
    "tool.execute.before": [
      {
        "command": "command -v git-handoff >/dev/null 2>&1 || exit 0; exec git-handoff guard --client opencode"
      }
    ],
    "tool.execute.after": [
      {
        "command": "command -v git-handoff >/dev/null 2>&1 || exit 0; exec git-handoff guard --client opencode"
      }
    ],
    "session.compacting": [
      {
        "command": "command -v git-handoff >/dev/null 2>&1 || exit 0; exec git-handoff guard --client opencode"
      }
    ],
    "session.deleted": [
      {
        "command": "command -v git-handoff >/dev/null 2>&1 || exit 0; exec git-handoff guard --client opencode"
      }
    ]
  }
};

/** What the guard answers; nothing when it has nothing to say, or cannot be asked. */
function ask(event, session, cwd, more) {
  return new Promise((resolve) => {
    let said = '';
    const child = spawn('/bin/sh', ['-c', settings.hooks[event][0].command], {
      cwd,
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: 10000,
    });
    child.on('error', () => resolve({}));
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (chunk) => (said += chunk));
    child.on('close', () => resolve(said === '' ? {} : JSON.parse(said)));
    child.stdin.end(JSON.stringify({ hook_event_name: event, session_id: session, cwd, ...more }));
  });
}

export const GitHandoff = async ({ client, directory }) => {
  const roots = new Map();
  const begun = new Map();
  /** The session that a sub-agent's belongs to. */
  const rootOf = async (id) => {
    if (!roots.has(id)) {
      const parent = (await client.session.get({ path: { id } })).data?.parentID;
      roots.set(id, parent ? await rootOf(parent) : id);
    }
    return roots.get(id);
  };
  const told = async (event, session, more) => {
    try {
      const root = await rootOf(session);
      return await ask(event, root, directory, root === session ? more : { agent_id: session, ...more });
    } catch {
      return {};
    }
  };
  const call = ({ tool, callID }, args) => ({ tool_name: tool, tool_use_id: callID, tool_input: args });
  const isAsked = ({ tool }) => !/^(read|grep|glob|list|webfetch|websearch|task|todo\w*|skill|question)$/.test(tool);
  return {
    event: async ({ event }) => {
      const { info } = event.properties ?? {};
      if (event.type === 'session.deleted' && !info.parentID) await told(event.type, info.id, {});
    },
    'chat.message': async ({ sessionID }) => {
      if (begun.has(sessionID)) return;
      begun.set(sessionID, '');
      if ((await rootOf(sessionID).catch(() => undefined)) !== sessionID) return;
      const { tell } = await told('chat.message', sessionID, {});
      if (tell) begun.set(sessionID, tell);
    },
    'experimental.chat.system.transform': async ({ sessionID }, { system }) => {
      const tell = begun.get(sessionID);
      if (tell) system.push(tell);
    },
    'tool.execute.before': async (input, { args }) => {
      if (!isAsked(input)) return;
      const { deny } = await told('tool.execute.before', input.sessionID, call(input, args));
      if (deny) throw new Error(deny);
    },
    'tool.execute.after': async (input, result) => {
      if (!isAsked(input)) return;
      const response = { tool_response: { exit: result?.metadata?.exit }, tool_output: result?.output };
      const { tell } = await told('tool.execute.after', input.sessionID, { ...call(input, input.args), ...response });
      if (tell && typeof result?.output === 'string') result.output += '\n\n' + tell;
      else if (tell && Array.isArray(result?.content)) result.content.push({ type: 'text', text: tell });
    },
    'experimental.session.compacting': async ({ sessionID }) => {
      await told('session.compacting', sessionID, {});
    },
    'shell.env': async ({ sessionID }, { env }) => {
      try {
        if (sessionID) env.GIT_HANDOFF_SESSION = await rootOf(sessionID);
      } catch {}
    },
  };
};
