# shellcheck shell=sh
# The hooks that `init` installs read this file. sh decides only whether a session can be at work here. Node decides everything
# else (src/githooks/). If Node cannot answer, the commit or push goes on.

# Sets $gitdir and $common from what git gives its hooks: GIT_DIR, or the top of the working tree as the current folder. False
# if `init` never ran in this repository.
find_repository() {
  gitdir=${GIT_DIR:-.git} line=
  if [ -f "$gitdir" ]; then
    IFS= read -r line <"$gitdir" || :
    gitdir=${line#gitdir: }
  fi
  common=${GIT_COMMON_DIR:-$gitdir}
  if [ -z "${GIT_COMMON_DIR-}" ] && [ -f "$gitdir/commondir" ]; then
    IFS= read -r common <"$gitdir/commondir" || :
    case $common in
      /*) ;;
      *) common=$gitdir/$common ;;
    esac
  fi
  [ -d "$common/handoff" ]
}

# True if a session may be at work here: the environment names one ($named), or one has made a call.
is_session_possible() {
  find_repository || return 1
  named=${GIT_HANDOFF_SESSION-}${CLAUDE_CODE_SESSION_ID-}${CODEX_SESSION_ID:-${CODEX_THREAD_ID-}}${GEMINI_SESSION_ID-}${QWEN_CODE_SESSION_ID-}
  if [ -n "$named" ]; then return 0; fi
  for beat in "$common"/handoff/beat/*; do break; done
  [ -e "$beat" ]
}

# ask <hook> [<argument> ...]: sets $status to Node's answer: 0 goes on, 77 refuses, anything else is no answer. Prints what
# Node says. Without an answer, warns that nothing was checked; for a commit only prepare-commit-msg warns, which always runs.
ask() {
  hook=$1
  shift
  said=$(GIT_HANDOFF_GIT_PID=${GIT_HANDOFF_GIT_PID:-$PPID} "$here/../bin/git-handoff" hook "$hook" \
    --git-dir "$gitdir" --common-dir "$common" -- "$@" 2>&1)
  status=$?
  if [ $status -ne 0 ] && [ $status -ne 77 ]; then
    said='to see why: git handoff doctor'
    [ -f "$here/../bin/git-handoff" ] && [ -f "$here/../dist/start.cjs" ] || said='parts of it are missing: install it again'
    said=${unchecked:+"warning: git-handoff could not check this $unchecked; $said"}
  fi
  if [ -n "$said" ]; then printf '%s\n' "$said" >&2; fi
}
