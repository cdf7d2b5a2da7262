# shellcheck shell=sh
# Sourced by prepare-commit-msg and commit-msg, after session.sh: the trailers of $session, Claude-Session-Id and, where
# that is wanted, Assisted-by.
# Nothing here may stop a commit: every function answers with its status, and the callers go on.

# Sets $short to the eight characters of $session that stand for it: the last ones of a UUID of version 7 and of
# OpenCode's id, which begin with the time, else the first. src/domain/names.ts tells the same.
shorten() {
  short=$session
  case $session in
    ????????-????-7???-????-????????????) short=${session#????????????????????????????} ;;
    ses_??????????????????????????) short=${session#??????????????????????} ;;
    ????????*) short=${session%"${session#????????}"} ;;
  esac
}

# True for git's words for "false", or "true", in any case of letters.
# --- generated: booleans ---
is_false() {
  case $1 in
    '' | [Ff][Aa][Ll][Ss][Ee] | [Nn][Oo] | [Oo][Ff][Ff] | 0) return 0 ;;
  esac
  return 1
}
is_true() {
  case $1 in
    [Tt][Rr][Uu][Ee] | [Yy][Ee][Ss] | [Oo][Nn] | 1) return 0 ;;
  esac
  return 1
}
# --- end ---

# Reads the settings that matter, the last value of each counts, and sets $named and $assisted to what the trailers will
# say, empty for those that are not wanted. False if none is.
read_config() {
  shorten
  named=$session assisted=
  trailer=id enabled=true assisting=false comment='#'
  if ! kept_config; then
    config=$(unset GIT_CONFIG && in_commit git config --get-regexp '^(handoff\.(trailer|enabled|assistedby)|core\.comment(char|string))$')
    # Where git hung nobody knows what they are.
    if is_over; then return 1; fi
  fi
  while IFS= read -r line; do
    # A key without a value is true.
    case $line in
      *' '*) value=${line#* } ;;
      *) value=true ;;
    esac
    case ${line%% *} in
      handoff.trailer) trailer=$value ;;
      handoff.enabled) enabled=$value ;;
      handoff.assistedby) assisting=$value ;;
      core.comment*) comment=$value ;;
    esac
  done <<END
$config
END
  if is_false "$enabled"; then return 1; fi
  case $trailer in
    [Ss][Hh][Oo][Rr][Tt]) named=$short ;;
    *) if is_false "$trailer"; then named=; fi ;;
  esac
  if is_true "$assisting"; then read_model; fi
  [ -n "$named$assisted" ]
}

# Sets $config to what an earlier hook of this commit was told, where it left that whole.
kept_config() {
  read_checked
  if [ -z "$who" ]; then return 1; fi
  config='' last=''
  while IFS= read -r line; do config=$config$line$newline last=$line; done <"$gitdir/handoff-checked"
  [ "$last" = . ]
}

# Sets $assisted to the session's client and model, as the guard noted them (src/guard/models.ts).
read_model() {
  file=${XDG_STATE_HOME:-${HOME-}/.local/state}/git-handoff/models/$session
  line=
  if [ -f "$file" ]; then IFS= read -r line <"$file" || line=; fi
  case $line in
    *[!]A-Za-z0-9._:/@+[-]* | [!A-Za-z]* | *: | '') ;;
    *:*) if [ ${#line} -le 120 ]; then assisted=$line; fi ;;
  esac
}

# Looks at the message: $content is set if somebody wrote something, $ids if a line names a session, $mine if
# that is this session, in full or short, $models if a line names a model, $torn if the last line has no end, $plain if
# nothing below the first line can be a trailer, a comment or an end of the message to git. Stops at the scissors, below
# which a diff may follow. Both the configured comment character and `#` begin a comment: git before 2.45 does not know
# core.commentString.
scan() {
  content='' ids='' mine='' models='' torn='' plain=1 blank=''
  while IFS= read -r line || { [ -n "$line" ] && torn=1; }; do
    blank=
    case $line in
      *' ------------------------ >8 ------------------------') plain='' && return ;;
      [Cc][Ll][Aa][Uu][Dd][Ee]-[Ss][Ee][Ss][Ss][Ii][Oo][Nn]-[Ii][Dd]:*)
        ids=1 plain=''
        value=${line#*:}
        value=${value#"${value%%[! ]*}"}
        case ${value%%[!A-Za-z0-9._-]*} in
          "$session" | "$short") mine=1 ;;
        esac
        ;;
      [Aa][Ss][Ss][Ii][Ss][Tt][Ee][Dd]-[Bb][Yy]:*) models=1 plain='' ;;
      [Ss]igned-[Oo]ff-[Bb]y:* | "$comment"* | '#'*) plain= ;;
      *[!\ \	]*)
        case $content$line in
          1*:* | '1(cherry picked from commit '*) plain= ;;
        esac
        # With `auto` git takes a character that begins no line of the message.
        case $comment$line in
          auto[\#\;@!\$%^\&\|:]*) plain= ;;
          *) content=1 ;;
        esac
        ;;
      *)
        blank=1
        if [ -z "$content" ]; then plain=''; fi
        ;;
    esac
  done <"$1"
}

# Writes the trailers that the message lacks. Without any configuration: the user's would drop or rename them, and a
# repository's trailer.<key>.command would run. GIT_DIR names no repository, so that none is read.
add_trailers() {
  if [ -n "$mine" ]; then named=; fi
  if [ -n "$models" ]; then assisted=; fi
  if [ -z "$named$assisted" ]; then return 0; fi
  # git merge writes such a message, and git 2.39 would put the trailer into its last paragraph.
  if [ -n "$torn" ]; then echo >>"$1"; fi
  # Where git would begin a paragraph it need not be asked. yash reads no further than a byte that its locale does not know.
  if [ -n "$plain" ] && [ -z "$blank${YASH_VERSION-}" ]; then
    {
      echo
      if [ -n "$named" ]; then echo "Claude-Session-Id: $named"; fi
      if [ -n "$assisted" ]; then echo "Assisted-by: $assisted"; fi
    } >>"$1"
    return
  fi
  unset GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT
  export GIT_DIR=/dev/null GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_CONFIG_NOSYSTEM=1
  case $comment in
    auto | '') comment='#' ;;
  esac
  in_commit interpret_trailers "$comment" "$1" || in_commit interpret_trailers '#' "$1"
}

# interpret_trailers <comment character> <file>: git refuses a comment character that it does not know.
interpret_trailers() {
  git -c "core.commentChar=$1" -c trailer.separators=: interpret-trailers --in-place --no-divider \
    --where end --if-exists addIfDifferent --if-missing add \
    ${named:+--trailer "Claude-Session-Id: $named"} ${assisted:+--trailer "Assisted-by: $assisted"} "$2"
}
