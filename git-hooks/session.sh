# shellcheck shell=sh
# Sourced by the git hooks: where they run, whose commit it is, and whether that session may make it.
# Nothing here stops a commit but `check`, and that only when Node says so: in doubt it is made.

newline='
'
# The installed hook says which process git is.
git_pid=${GIT_HANDOFF_GIT_PID:-$PPID}
case $git_pid in
  *[!0-9]*) git_pid=$PPID ;;
esac
# Who the environment says is at work; `hook identity` looks whether that can be.
# --- generated: named-session ---
claimed=${GIT_HANDOFF_SESSION-}${CLAUDE_CODE_SESSION_ID-}${CODEX_SESSION_ID:-${CODEX_THREAD_ID-}}${GEMINI_SESSION_ID-}${QWEN_CODE_SESSION_ID-}
# --- end ---

# What may hang ends after so many seconds, of the 8 that all our hooks of one commit have together.
seconds=6

# limited <command> ...: ends it when its time is over; 124 or above then. timeout(1) is not everywhere (macOS), and
# busybox's keeps the pipe open for a second. As in bin/git-handoff.
limited() {
  {
    "$@" <&6 6<&- &
    child=$!
    watch $child stop_tree &
  } 6<&0
  # Without what some shells say of a process that a signal ended.
  { wait $child && code=0 || code=$?; kill -9 $! && wait $!; } 2>/dev/null
  return $code
}

# watch <process> <what to stop before it is ended>: every second from when the time is over, as long as the process is there.
# It is ended itself by a signal that it cannot keep waiting, and may leave a sleep behind, for a second: neither holds a pipe
# that somebody reads to its end.
watch() {
  exec </dev/null >/dev/null 2>&1 3>&- 4<&- 5<&- 6<&-
  while sleep 1 && kill -0 "$1"; do
    seconds=$((seconds - 1))
    if [ $seconds -gt 0 ]; then continue; fi
    # It may be among what the process has started.
    own=$(exec sh -c 'echo "$PPID"') tree=
    "$2" "$1"
    # shellcheck disable=SC2086
    kill $tree
    # shellcheck disable=SC2086
    kill -CONT $tree
  done
}

# Stops a process and what it has started, and adds them to $tree. What is not stopped goes on when the one that it waits for
# is ended, and may start another that nobody finds.
stop_tree() {
  kill -STOP "$1"
  stop_below "$1"
  tree="$tree $1"
}

# Stops what a process has started.
stop_below() {
  for below in $(ps -A -o ppid= -o pid= | while read -r above pid; do
    if [ "$above" = "$1" ] && [ "$pid" != "$own" ]; then echo "$pid"; fi
  done); do
    stop_tree "$below"
  done
}

# Sets $hung where git hung in this worktree at the last two calls: it is not asked again for a while. The file's time is
# the end of that (src/host/breaker.ts).
see_hung() {
  hung='' state=${XDG_STATE_HOME:-${HOME-}/.local/state}/git-handoff
  [ -d "$state/hung" ] || return
  set -- "$(pwd -P)"
  kept=$IFS
  IFS=/
  # shellcheck disable=SC2086
  set -- $1
  IFS=%
  file=$state/hung/$*
  IFS=$kept
  [ -f "$file" ] || return
  printf '' >"$state/hung/now"
  if ! [ "$state/hung/now" -nt "$file" ]; then hung=--hung; fi
}

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

# True if something of git's is unfinished here that git itself would go on with; not for what was left behind. Sets
# $mark to the file that git wrote when it began. src/git/operations.ts tells the same.
unfinished() {
  mark=rebase-merge/onto
  if [ -f "$gitdir/$mark" ] && [ -f "$gitdir/rebase-merge/head-name" ]; then return 0; fi
  mark=rebase-apply/last
  if [ -f "$gitdir/$mark" ] && [ -f "$gitdir/rebase-apply/next" ]; then
    if [ -f "$gitdir/rebase-apply/applying" ] || [ -f "$gitdir/rebase-apply/rebasing" ]; then return 0; fi
  fi
  mark=sequencer/head
  if [ -f "$gitdir/$mark" ] && [ -f "$gitdir/sequencer/todo" ]; then return 0; fi
  for mark in CHERRY_PICK_HEAD REVERT_HEAD MERGE_HEAD; do
    line=
    if [ -f "$gitdir/$mark" ]; then IFS= read -r line <"$gitdir/$mark" || :; fi
    case $line in
      *[!0-9a-f]*) ;;
      *) case ${#line} in 40 | 64) return 0 ;; esac ;;
    esac
  done
  # With reftable those of a pick are no files. Their message is one, and as old as they are.
  mark=MERGE_MSG
  if [ -f "$gitdir/$mark" ] && [ -d "$gitdir/reftable" ]; then
    for ref in CHERRY_PICK_HEAD REVERT_HEAD; do
      if in_commit git rev-parse -q --verify "$ref" >/dev/null 2>&1; then return 0; fi
    done
  fi
  return 1
}

# True while git remakes existing commits: they keep whatever ids they have.
replaying() {
  if unfinished && [ "$mark" != MERGE_HEAD ]; then return 0; fi
  reverting
}

# True if a revert is being committed that went well: it leaves nothing but its message.
reverting() {
  line=
  if [ -f "$gitdir/MERGE_MSG" ]; then IFS= read -r line <"$gitdir/MERGE_MSG" || :; fi
  case $line in
    'Revert "'* | 'Reapply "'* | '# *** SAY WHY WE ARE REVERTING '*) return 0 ;;
  esac
  return 1
}

# is_only <session>: true if that is the one session that the environment names.
is_only() {
  case $claimed in
    "$1" | "$1$1") [ -n "$1" ] ;;
    *) return 1 ;;
  esac
}

# Sets $solo, $pid and $began to the session that works here alone and its process; false when there is none.
read_solo() {
  solo='' pid='' began=''
  [ -f "$gitdir/handoff-solo" ] || return 1
  read -r solo pid began <"$gitdir/handoff-solo" || :
}

# True if a session works here alone and it is what commits, or a person does.
is_lone() {
  read_solo || return 1
  if [ -n "$claimed" ]; then
    is_only "$solo"
  else
    # A client may tell its shells nothing.
    descends_from "$pid" "$began" || ! is_traced
  fi
}

# True if another session may have begun what is unfinished: it is on record as newer than $mark, or works here alone.
is_others() {
  record=$gitdir/handoff-operation
  if [ -f "$record" ] && ! [ "$gitdir/$mark" -nt "$record" ]; then
    while read -r beginner _; do
      if is_only "$beginner"; then return 1; fi
    done <"$record"
    return 0
  fi
  [ -f "$gitdir/handoff-solo" ] && ! is_lone
}

# Sets $above to the parent of process $1 and $start to its start time, field 22 of /proc/<pid>/stat; false where
# that cannot be read. Field 2 is the program's name in parentheses and may hold anything, so fields are counted
# from the last parenthesis. git is looked up once: a shell reads a file byte by byte.
git_start=
look_up() {
  if [ "$1" = "$git_pid" ] && [ -n "$git_start" ]; then
    above=$git_above start=$git_start
    return
  fi
  above=0 start='' looked=$1
  if [ "$1" -le 0 ] || [ ! -r "/proc/$1/stat" ]; then return 1; fi
  stat=
  while IFS= read -r line || [ -n "$line" ]; do stat="$stat $line"; done <"/proc/$1/stat"
  # shellcheck disable=SC2086
  set -- ${stat##*\)}
  # $1 is field 3.
  above=${2:-0} start=${20-}
  if [ "$looked" = "$git_pid" ]; then git_above=$above git_start=$start; fi
  [ -n "$start" ]
}

# True if the process with that pid and start time is git or one of its ancestors.
descends_from() {
  ancestor=$git_pid
  while look_up "$ancestor"; do
    if [ "$ancestor" = "$1" ]; then
      [ "$start" = "$2" ]
      return
    fi
    ancestor=$above
  done
  return 1
}

# True if a session may be at work here: the environment names one, or one that is on record is an ancestor, or that
# cannot be told. Where it is false a person commits, and Node need not be asked.
is_traced() {
  if [ -n "$claimed" ]; then return 0; fi
  traced=1
  set +f
  for file in "$common"/handoff/beat/*; do
    if [ -e "$file" ]; then traced=0; fi
    break
  done
  if [ $traced -eq 0 ] && look_up "$git_pid"; then
    traced=1
    ancestor=$git_pid
    while look_up "$ancestor"; do
      for file in "$common"/handoff/registered/*/*/"$ancestor.$start"; do
        if [ -e "$file" ]; then traced=0; fi
      done
      ancestor=$above
    done
  fi
  set -f
  return $traced
}

# Reads what the earlier hooks of this commit have left: who commits, `-` for a person, `?` when that is not known, and
# the milliseconds that they took.
read_checked() {
  who='' process='' began='' spent=''
  if [ -f "$gitdir/handoff-checked" ]; then read -r process began who spent <"$gitdir/handoff-checked" || :; fi
  if [ "$process" = "$git_pid" ]; then look_up "$git_pid" || start=-; fi
  if [ "$process" != "$git_pid" ] || [ "$began" != "$start" ]; then who='' spent=''; fi
}

# True if an earlier hook of this commit has asked Node; sets $session to the answer, empty for a person.
checked() {
  read_checked
  case $who in
    '' | '?') return 1 ;;
  esac
  session=${who#-}
}

# True if the hooks of this commit have had their time: what hangs would be waited for once more. Else sets $seconds to
# what is left of it.
is_over() {
  read_checked
  case $spent in
    '' | *[!0-9]*) return 1 ;;
  esac
  if [ "$spent" -lt 2000 ]; then return 1; fi
  seconds=$(((7999 - spent) / 1000))
  [ $seconds -lt 1 ]
}

# Leaves word for the later hooks of this commit that nobody could tell, after so many milliseconds.
mark_unknown() {
  look_up "$git_pid" || start=-
  printf '%s %s ? %s\n' "$git_pid" "$start" "$1" >"$gitdir/handoff-checked"
}

# in_commit <command> ...: as `limited`; where that has to end it the hooks of this commit have had their time.
in_commit() {
  if is_over; then return 124; fi
  limited "$@"
  ended=$?
  case $ended in
    124 | 143 | 271) mark_unknown 8000 ;;
  esac
  return $ended
}

# True if the process that runs the hook is a `git commit`, or that cannot be told; not for a merge or a pick that
# git commits by itself.
is_commit() {
  if [ ! -r "/proc/$git_pid/cmdline" ]; then return 0; fi
  words=$(tr '\000' ' ' <"/proc/$git_pid/cmdline") || return 0
  case " $words" in
    *' commit '*) return 0 ;;
  esac
  return 1
}

# True if git has stopped here, and this commit goes on. pre-commit (no argument) runs for such commits only; where git
# goes from pick to pick, nothing else is staged.
stopped() {
  if is_lone; then return 1; fi
  [ $# -eq 0 ] || is_commit
}

# Notes which git makes a commit: its hooks may put the whole tree aside for a while. A lone session has nobody to tell.
# src/changes/running-commit.ts reads it.
note_commit() {
  if [ ! -d "$common/handoff" ] || [ -f "$gitdir/handoff-solo" ]; then return; fi
  look_up "$git_pid" || start=-
  printf '%s %s\n' "$git_pid" "${start:--}" >"$gitdir/handoff-committing"
}

# must_check [<source of the message>]: true if a session may commit that is not alone in this worktree. What git
# makes from existing commits (merge, rebase, cherry-pick, revert, am) is looked at only where it stopped, or where
# another one began it.
must_check() {
  if unfinished; then
    is_others || stopped "$@" || return 1
  elif [ "${1-}" = merge ] || is_lone; then
    return 1
  elif [ $# -gt 0 ] && reverting && ! is_commit; then
    return 1
  fi
  [ -d "$common/handoff" ] && is_traced
}

# tell_node <hook>: prints what Node will need for it.
tell_node() {
  settings && case $1 in (pre-commit | prepare-commit-msg) facts ;; esac
}

# Prints the settings, and a dot when that is all of them.
settings() {
  # It would name the only file to read.
  unset GIT_CONFIG
  git config --get-regexp '^handoff\.|^core\.comment(char|string)$'
  # 1 is "no such setting".
  [ $? -le 1 ] && echo .
}

# --- generated: ref-format ---
whole='%(refname)%00%(objectname)%00%(objecttype)%00%(symref)%00%(raw:size)%00%(raw)'
# --- end ---

# Prints what a commit is judged by, for a HEAD that is on a branch: the sessions with HEAD's commit, and what is
# staged, with a dot behind each that is whole. src/git/refs.ts and src/git/staged.ts ask the same.
facts() {
  head=
  if [ -f "$gitdir/HEAD" ]; then IFS= read -r head <"$gitdir/HEAD" || :; fi
  case $head in
    'ref: refs/heads/.invalid') return ;;
    'ref: refs/heads/'?*) head=${head#ref: } ;;
    *) return ;;
  esac
  printf '\0'
  export GIT_NO_REPLACE_OBJECTS=1 GIT_NO_LAZY_FETCH=1 GIT_ALLOW_PROTOCOL=none GIT_OPTIONAL_LOCKS=0
  git for-each-ref "--format=$whole" -- refs/handoffs-local/live/ "$head" && echo . &&
    git -c core.fsmonitor=false -c core.ignoreCase=false -c color.ui=false diff --cached --raw -z --no-abbrev \
      --no-renames --no-relative --ignore-submodules=none --no-ext-diff --no-textconv -O/dev/null && echo .
}

# to_node <word> ...: becomes Node, as the launcher would for these words. Read here it needs no start of sh.
to_node() {
  export GIT_HANDOFF_GIT_PID="$git_pid"
  handoff_launcher=$here/../bin/git-handoff
  # shellcheck source=bin/git-handoff
  . "$handoff_launcher"
}

# ask <hook> [<argument> ...]: puts a question to Node, and reads what it will need while it starts. Sets $answer to the
# first line that it says; the others go to descriptor 3. Where it says none of ours it is broken, or there is none: that
# is said, once a commit.
ask() {
  hook=$1
  shift
  answer='' output='' it=commit
  if [ "$hook" = pre-push ]; then it=push; fi
  see_hung
  exec 4<&0
  if [ $it = push ] || ! is_over; then output=$(
    {
      # Where git hangs it is not asked again.
      [ -z "$hung" ] && limited tell_node "$hook"
    } | {
      exec 3<&0 <&4 2>&1
      to_node hook "$hook" --answer \
        --git-dir "$gitdir" --common-dir "$common" --settings-pipe ${hung:+"$hung"} -- "$@"
    }
  ); fi
  case $output in
    'answer: '*) ;;
    *)
      wrong='what is wrong: git handoff doctor'
      [ -f "$here/../bin/git-handoff" ] && [ -f "$here/../dist/cli.cjs" ] || wrong='install it again: parts of it are gone'
      printf 'warning: git-handoff could not check this %s; %s\n' $it "$wrong" >&3
      if [ $it = commit ]; then mark_unknown 0; fi
      return
      ;;
  esac
  answer=${output%%"$newline"*}
  if [ "$answer" != "$output" ]; then printf '%s\n' "${output#*"$newline"}" >&3; fi
  answer=${answer#answer: }
}

# check <hook> [<argument> ...]: ends the hook, and with it the commit, when it would mix sessions. Sets $session, empty for a person;
# false when nobody could tell.
check() {
  ask "$@"
  case $answer in
    refused) exit 1 ;;
    '' | '?') return 1 ;;
    -) session= ;;
    *) session=$answer ;;
  esac
}

# Sets $session to the session that commits; false for a person. The session that works here alone is known
# by its process, whatever the environment says; in doubt Node is asked, and only where there is a trace.
find_session() {
  session=
  if checked; then
    [ -n "$session" ]
    return
  fi
  if read_solo; then
    case $pid$began in
      '' | *[!0-9]*) ;;
      *) if descends_from "$pid" "$began"; then session=$solo; fi ;;
    esac
    if [ -z "$session$claimed" ]; then return 1; fi
  elif ! is_traced; then
    return 1
  fi
  if [ -z "$session" ]; then
    session=$(to_node hook identity --git-dir "$gitdir" --common-dir "$common")
  fi
  is_session
}

# True if $session is a session id.
is_session() {
  case $session in
    '' | [!A-Za-z0-9]* | *[!A-Za-z0-9._-]* | *..* | *.lock) return 1 ;;
  esac
  [ ${#session} -le 128 ]
}
