/**
 * Every known tool of each client, as its model or its hooks spell it, grouped by how the client's dialect (src/agents)
 * judges its calls. `file`, `shell`: we judge a call before it runs, and look again afterwards. `afterwards`: the tool may
 * change files, but calls no hook of ours, so we see its changes at the session's next call. `reads`: the tool only reads.
 * `ignored`: the tool concerns the client itself, or sub-agents, whose own calls we judge. We judge tools of MCP servers by
 * the verbs in their names. test/unit/agents/tools.test.ts compares the dialects with this table; client-news.mjs reports
 * tools that the table lacks.
 *
 * @type {Record<string, Record<string, string>>}
 */
const TOOLS = {
  claude: {
    file: 'Write Edit MultiEdit NotebookEdit',
    shell: 'Bash Monitor PowerShell ExitWorktree',
    afterwards: 'EnterWorktree REPL CronCreate ProposeSkills ClaudeDesign Artifact',
    reads: `Read Glob Grep LSP WebFetch WebSearch ListMcpResources ListMcpResourcesTool ReadMcpResource
      ReadMcpResourceTool ReadMcpResourceDir ToolSearch ListAgents ReadNotifications CronList TaskGet TaskList TaskOutput`,
    ignored: `Agent Task Workflow Skill SlashCommand SendMessage TaskStop TaskCreate TaskUpdate TodoWrite CronDelete
      ScheduleWakeup RemoteTrigger EnterPlanMode ExitPlanMode AskUserQuestion ReportFindings SendFeedback Projects
      RefreshMcpTools ProposeGoal PushNotification ShowOnboardingRolePicker OfferChromeSetup StructuredOutput
      DeferredToolPlaceholder`,
  },
  codex: {
    shell: 'Bash exec_command shell shell_command local_shell container.exec',
    file: 'apply_patch',
    afterwards: 'write_stdin image_generation',
    reads: `view_image web_search tool_search get_goal list_agents list_mcp_resources list_mcp_resource_templates
      read_mcp_resource clock__curr_time get_context_remaining`,
    ignored: `exec wait sleep spawn_agent send_input wait_agent close_agent resume_agent send_message followup_task
      interrupt_agent collaborationspawn_agent update_plan create_goal update_goal request_user_input
      request_user_input_async request_permissions request_plugin_install new_context`,
  },
  gemini: {
    file: 'write_file replace',
    shell: 'run_shell_command',
    afterwards: 'take_snapshot',
    reads: `read_file read_many_files list_directory glob grep_search web_fetch google_web_search get_internal_docs
      list_mcp_resources read_mcp_resource list_background_processes read_background_output tracker_get_task
      tracker_list_tasks tracker_visualize`,
    ignored: `invoke_agent complete_task activate_skill ask_user enter_plan_mode exit_plan_mode update_topic write_todos
      tracker_create_task tracker_update_task tracker_add_dependency`,
  },
  qwen: {
    file: 'write_file edit notebook_edit',
    shell: 'run_shell_command monitor exit_worktree',
    afterwards: `enter_worktree save_memory cron_create image_gen omni_clip_audio omni_clip_image
      omni_clip_video omni_convert_image omni_downsample_audio omni_downsample_image omni_downscale_video omni_extract_audio
      omni_extract_keyframes`,
    reads: `read_file list_directory glob grep_search lsp web_fetch web_search read_mcp_resource zoom_image display_image
      tool_search list_agents get_goal cron_list task_list omni_caption_audio omni_caption_image omni_ocr_image
      omni_transcribe_audio omni_understand_video_segments omni_recall_media_memory`,
    ignored: `agent workflow skill exec tool_call create_sub_session send_message team_create team_delete
      team_plan_approval task_create task_update task_stop todo_write cron_delete loop_wakeup update_goal propose_goal
      ask_user_question enter_plan_mode exit_plan_mode artifact record_artifact record_source report_findings
      request_shutdown structured_output`,
  },
  opencode: {
    file: 'write edit apply_patch',
    shell: 'bash',
    reads: 'read glob grep webfetch websearch codesearch lsp',
    ignored: 'task skill todowrite todoread question plan_exit invalid',
  },
  cursor: {
    shell: 'Shell',
    file: 'Write Edit MultiEdit StrReplace TabWrite EditNotebook NotebookEdit Delete',
    reads: 'Read Grep',
    ignored: 'Task',
  },
  copilot: {
    shell: 'Bash bash PowerShell powershell',
    file: 'Write create Edit edit str_replace_editor apply_patch',
    afterwards: 'write_bash write_powershell',
    reads: `view glob grep rg lsp web_fetch web_search fetch_copilot_cli_documentation session_store_sql read_bash
      list_bash read_powershell list_powershell read_agent list_agents`,
    ignored: 'task write_agent skill sql stop_bash stop_powershell ask_user exit_plan_mode task_complete',
  },
  grok: {
    shell: 'run_terminal_command monitor',
    file: 'write search_replace',
    afterwards: 'use_tool image_gen image_edit image_to_video reference_to_video',
    reads: 'read_file list_dir grep search_tool get_command_or_subagent_output scheduler_list',
    ignored: `spawn_subagent workflow todo_write kill_command_or_subagent scheduler_create scheduler_delete
      ask_user_question enter_plan_mode exit_plan_mode send_feedback session_title`,
  },
};

/**
 * Returns the names of a client's tools with these judgements, in the order of the table.
 *
 * @param {string} client
 * @param {string[]} judgements
 */
export function toolsOf(client, ...judgements) {
  return Object.entries(TOOLS[client] ?? {}).flatMap(([judgement, names]) =>
    judgements.includes(judgement) ? names.trim().split(/\s+/) : [],
  );
}
