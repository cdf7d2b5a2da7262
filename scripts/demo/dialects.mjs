/** How each client calls its hooks: its settings file, its events, its shell tool, and how a hook denies a call. */
const decision = ({ permissionDecision, permissionDecisionReason }) =>
  permissionDecision === 'deny' ? permissionDecisionReason : undefined;

export const DIALECTS = {
  claude: {
    settings: '.claude/settings.json',
    before: 'PreToolUse',
    after: 'PostToolUse',
    shell: 'Bash',
    denial: decision,
    environment: (session) => ({ CLAUDE_CODE_SESSION_ID: session }),
  },
  codex: {
    settings: '.codex/hooks.json',
    before: 'PreToolUse',
    after: 'PostToolUse',
    shell: 'Bash',
    denial: decision,
    environment: (session) => ({ CODEX_SESSION_ID: session, CODEX_THREAD_ID: session }),
  },
  gemini: {
    settings: '.gemini/settings.json',
    before: 'BeforeTool',
    after: 'AfterTool',
    shell: 'run_shell_command',
    denial: ({ decision: said, reason }) => (said === 'deny' ? reason : undefined),
    environment: () => ({ GEMINI_CLI: '1' }),
  },
};
