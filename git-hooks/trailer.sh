# shellcheck shell=sh
# Sourced by prepare-commit-msg and commit-msg: whose commit this is, and its Claude-Session-Id trailer.
# Nothing here may stop a commit: every function answers with its status, and the callers go on.

# Sets $gitdir and $common from what git gives its hooks: GIT_DIR, or the top level as current folder.
find_repository() {
  gitdir=${GIT_DIR:-.git}
  if [ -f "$gitdir" ]; then
    line=
    IFS= read -r line <"$gitdir" || :
    case $line in
      'gitdir: '*) gitdir=${line#gitdir: } ;;
      *) return 1 ;;
    esac
  fi
  common=${GIT_COMMON_DIR:-$gitdir}
  if [ -z "${GIT_COMMON_DIR-}" ] && [ -f "$gitdir/commondir" ]; then
    IFS= read -r common <"$gitdir/commondir" || :
    case $common in
      /*) ;;
      *) common=$gitdir/$common ;;
    esac
  fi
  [ -d "$gitdir" ]
}

# True while git makes commits anew from existing ones: they keep whatever ids they have.
replaying() {
  for state in rebase-merge rebase-apply sequencer CHERRY_PICK_HEAD REVERT_HEAD; do
    if [ -e "$gitdir/$state" ]; then return 0; fi
  done
  # A clean revert leaves nothing but its message.
  line=
  if [ -f "$gitdir/MERGE_MSG" ]; then IFS= read -r line <"$gitdir/MERGE_MSG" || :; fi
  case $line in
    'Revert "'* | 'Reapply "'*) return 0 ;;
  esac
  return 1
}

# True if the process is one of our ancestors: pid and start time, field 22 of /proc/<pid>/stat. The installed
# hook says in GIT_HANDOFF_GIT_PID where to begin. Field 2 is
# the program's name in parentheses and may hold anything, so fields are counted from the last parenthesis.
descends_from() {
  ancestor=${GIT_HANDOFF_GIT_PID:-$PPID}
  while [ "$ancestor" -gt 0 ] && [ -r "/proc/$ancestor/stat" ]; do
    stat=
    while IFS= read -r line || [ -n "$line" ]; do stat="$stat $line"; done <"/proc/$ancestor/stat"
    # shellcheck disable=SC2086
    set -- "$1" "$2" ${stat##*)}
    if [ "$ancestor" = "$1" ]; then
      # $3 is field 3.
      [ "${22}" = "$2" ]
      return
    fi
    ancestor=${4:-0}
  done
  return 1
}

# Sets $session to the session that commits; false for a person. The session that works here alone is known
# by its process, whatever the environment says; in doubt Node is asked, and only where there is a trace.
find_session() {
  session=
  claimed=${GIT_HANDOFF_SESSION-}${CLAUDE_CODE_SESSION_ID-}${CODEX_THREAD_ID-}
  claimed=$claimed${CODEX_SESSION_ID-}${GEMINI_SESSION_ID-}
  if [ -f "$gitdir/handoff-solo" ]; then
    read -r solo pid start <"$gitdir/handoff-solo" || :
    case $pid$start in
      '' | *[!0-9]*) ;;
      *) if descends_from "$pid" "$start"; then session=$solo; fi ;;
    esac
    if [ -z "$session$claimed" ]; then return 1; fi
  elif [ -z "$claimed" ] && [ ! -e "$common/handoff/live" ]; then
    return 1
  fi
  if [ -z "$session" ]; then session=$("$here/../bin/git-handoff" hook identity); fi
  case $session in
    '' | [!A-Za-z0-9]* | *[!A-Za-z0-9._-]* | *..* | *.lock) return 1 ;;
  esac
  [ ${#session} -le 128 ]
}

# Reads the settings that matter, the last value of each counts. False if the trailer is not wanted.
read_config() {
  trailer=id enabled=true comment='#'
  while read -r key value; do
    case $key in
      handoff.trailer) trailer=$value ;;
      handoff.enabled) enabled=$value ;;
      core.comment*) comment=$value ;;
    esac
  done <<END
$(git config --get-regexp '^(handoff\.(trailer|enabled)|core\.comment(char|string))$')
END
  case $enabled in
    [Ff]alse | FALSE | [Nn]o | NO | [Oo]ff | OFF | 0) return 1 ;;
  esac
  case $trailer in
    off) return 1 ;;
    short) session=$(printf %.8s "$session") ;;
  esac
}

# Looks at the message: $content is set if somebody wrote something, $ids if a line names a session, $mine if
# that is this session, in full or cut short, $torn if the last line has no end. Stops at the scissors, below which a diff may follow. Both the
# configured comment character and `#` begin a comment: git before 2.45 does not know core.commentString.
scan() {
  content='' ids='' mine='' torn=''
  while IFS= read -r line || { [ -n "$line" ] && torn=1; }; do
    case $line in
      *' ------------------------ >8 ------------------------') return ;;
      [Cc][Ll][Aa][Uu][Dd][Ee]-[Ss][Ee][Ss][Ss][Ii][Oo][Nn]-[Ii][Dd]:*)
        ids=1
        value=${line#*:}
        value=${value#"${value%%[! ]*}"}
        case $value in
          "$session"*) mine=1 ;;
          ????????*) case $session in "$value"*) mine=1 ;; esac ;;
        esac
        ;;
      [Ss]igned-[Oo]ff-[Bb]y:* | "$comment"* | '#'*) ;;
      *[!\ \	]*)
        # With `auto` git takes a character that begins no line of the message.
        case $comment$line in
          auto[\#\;@!\$%^\&\|:]*) ;;
          *) content=1 ;;
        esac
        ;;
    esac
  done <"$1"
}

# Writes the trailer. Without any configuration: the user's would drop or rename it, and a repository's
# trailer.<key>.command would run. GIT_DIR names no repository, so that none is read.
add_trailer() {
  # git merge writes such a message, and git 2.39 would put the trailer into its last paragraph.
  if [ -n "$torn" ]; then echo >>"$1"; fi
  unset GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT
  export GIT_DIR=/dev/null GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_CONFIG_NOSYSTEM=1
  case $comment in
    auto | '') comment='#' ;;
  esac
  interpret_trailers "$comment" "$1" || interpret_trailers '#' "$1"
}

# interpret_trailers <comment character> <file>: git refuses a comment character that it does not know.
interpret_trailers() {
  git -c "core.commentChar=$1" -c trailer.separators=: interpret-trailers --in-place --no-divider \
    --where end --if-exists addIfDifferent --if-missing add --trailer "Claude-Session-Id: $session" "$2"
}
