# bash completion for git-handoff, by itself and behind git's own; written by `git handoff completion bash`.
# Names of refs are data that others wrote: they are matched and quoted here, never expanded (`compgen -W` would).

# git, in the repository that the command line names (`git -C <path> handoff ...`).
__git_handoff_git() {
  if declare -F __git >/dev/null; then __git "$@"; else git "$@" 2>/dev/null; fi
}

# Offers the name $1 with $2 behind it, quoted for the shell, without what readline keeps ($dropped). A name that a
# terminal must not be shown raw (control characters, text that runs backwards) or that would be an option is left out.
__git_handoff_offer() {
  local LC_ALL=C quoted=$1
  case "$1" in
    -* | *[$'\x01'-$'\x1f'$'\x7f']* | *$'\xc2'[$'\x80'-$'\x9f']* | *$'\xe2\x80'* | *$'\xe2\x81'* | *$'\xef\xbb\xbf'*) return ;;
    *[!A-Za-z0-9_@%+=:,./-]*)
      # Inside quotes other rules hold; there only harmless names are offered.
      case "$typed" in [\'\"]*) return ;; esac
      __git_handoff_quote "$1"
      ;;
  esac
  case "$quoted" in "$dropped"*) COMPREPLY+=("${quoted#"$dropped"}$2") ;; esac
}

# Sets $quoted: a backslash before every ASCII character that is not safe. Call with LC_ALL=C.
__git_handoff_quote() {
  local text=$1 one
  quoted=
  while [ -n "$text" ]; do
    one=${text:0:1} text=${text:1}
    case "$one" in
      [A-Za-z0-9_@%+=:,./-] | [$'\x80'-$'\xff']) quoted+=$one ;;
      *) quoted+=\\$one ;;
    esac
  done
}

# Offers those of our own words that begin with what is typed.
__git_handoff_words() {
  local word
  for word; do
    case "$word" in "$typed"*) COMPREPLY+=("$word ") ;; esac
  done
}

# Sets $encoded: a branch as the one component of a ref that its handoffs stand under.
__git_handoff_encode() {
  encoded=${1//%/%25}
  encoded=${encoded//\//%2F}
}

# Topics: those of the current branch by their names alone, those of all branches as <branch>/<topic>.
__git_handoff_topics() {
  local encoded here ref component branch topic
  local -a patterns
  here=$(__git_handoff_git symbolic-ref -q HEAD)
  __git_handoff_encode "${here#refs/heads/}"
  here=$encoded
  __git_handoff_encode "$raw"
  patterns=("refs/handoffs/$encoded*/*")
  case "$raw" in
    */*)
      __git_handoff_encode "${raw%/*}"
      patterns+=("refs/handoffs/$encoded/${raw##*/}*")
      ;;
    *) [ -z "$here" ] || patterns+=("refs/handoffs/$here/$raw*") ;;
  esac
  while IFS= read -r ref; do
    component=${ref%%/*} topic=${ref#*/}
    case "$topic" in *[!a-z0-9-]*) continue ;; esac
    if [ "$component" = "$here" ]; then
      case "$topic" in "$raw"*) __git_handoff_offer "$topic" ' ' ;; esac
    fi
    # A long branch name is cut in the ref; the whole one is not known here.
    case "$component" in *%-*) continue ;; esac
    branch=${component//%2F//}
    branch=${branch//%25/%}
    case "$branch/$topic" in "$raw"*) __git_handoff_offer "$branch/$topic" ' ' ;; esac
  done < <(__git_handoff_git for-each-ref --count=1000 --format='%(refname:lstrip=2)' "${patterns[@]}")
}

# Branches, with $1 behind each.
__git_handoff_branches() {
  local branch
  while IFS= read -r branch; do
    __git_handoff_offer "$branch" "$1"
  done < <(__git_handoff_git for-each-ref --count=1000 --format='%(refname:lstrip=2)' \
    "refs/heads/$raw*" "refs/heads/$raw*/**")
}

__git_handoff_sessions() {
  local session
  while IFS= read -r session; do
    case "$session" in "$raw"*) __git_handoff_offer "$session" ' ' ;; esac
  done < <(__git_handoff_git for-each-ref --count=1000 --format='%(refname:lstrip=4)' refs/handoffs-local/live)
}

# Offers what a place of the command line takes: a word of the table below.
__git_handoff_kind() {
  local -a words
  # No ref has these; git would take them for a pattern.
  case "$raw" in *[*?[]*) return ;; esac
  case "$1" in
    topic) __git_handoff_topics ;;
    place)
      __git_handoff_topics
      __git_handoff_branches /
      ;;
    branch) __git_handoff_branches ' ' ;;
    session) __git_handoff_sessions ;;
    ,*)
      IFS=, read -ra words <<<"${1#,}"
      __git_handoff_words "${words[@]}"
      ;;
  esac
}

# Sets $kind to what the option $1 takes; fails where it takes nothing.
__git_handoff_value() {
  local pair
  for pair in $values; do
    case "$pair" in
      "$1="*)
        kind=${pair#*=}
        return 0
        ;;
    esac
  done
  return 1
}

# readline takes the equals sign for the end of a word, and does not replace what stands before the last one.
__git_handoff_offer_kind() {
  local dropped= raw=${typed#[\'\"]}
  raw=${raw//\\/}
  case "$COMP_WORDBREAKS$typed" in *=*=*) dropped=${typed%"${typed##*=}"} ;; esac
  __git_handoff_kind "$kind"
}

# Completes $1, where the verb is $2 and the words between them are the rest.
__git_handoff_complete() {
  local typed=$1 options values kind each last= count=0
  COMPREPLY=()
  if [ $# -eq 1 ]; then
    __git_handoff_words $__git_handoff_verbs -h --help --version
    return
  fi
  __git_handoff_table "$2"
  local word=$kind
  shift 2
  for each; do
    # Paths follow, which the shell completes.
    [ "$each" != -- ] || return 0
    case "$each" in
      -*) ;;
      *) __git_handoff_value "$last" || count=$((count + 1)) ;;
    esac
    last=$each
  done
  case "$typed" in
    --*=*)
      if __git_handoff_value "${typed%%=*}"; then
        typed=${typed#*=}
        __git_handoff_offer_kind
      fi
      ;;
    *)
      if [ -n "$last" ] && __git_handoff_value "$last"; then
        __git_handoff_offer_kind
      elif [ "${typed#-}" != "$typed" ]; then
        __git_handoff_words $options
      elif [ "$count" -eq 0 ]; then
        kind=$word
        __git_handoff_offer_kind
      fi
      ;;
  esac
}

# $1: where the word `handoff` or `git-handoff` stands.
__git_handoff_from() {
  if [ "$cword" -eq $(($1 + 1)) ]; then
    __git_handoff_complete "$cur"
  else
    __git_handoff_complete "$cur" "${words[$1 + 1]}" "${words[@]:$1 + 2:cword - $1 - 2}"
  fi
}

# git's completion calls this for `git handoff`; it has set cur, words, cword and (since 2.30) __git_cmd_idx.
_git_handoff() {
  local at=${__git_cmd_idx-1}
  while [ "${words[at]}" != handoff ] && [ "$at" -lt "$cword" ]; do at=$((at + 1)); done
  __git_handoff_from "$at"
}

__git_handoff_main() {
  local cur words cword
  if declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref -n =: cur words cword
  else
    cur=${COMP_WORDS[COMP_CWORD]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
  fi
  __git_handoff_from 0
}

# Sets, for the verb $1: its options, what those with a value take, and what its own word is.
__git_handoff_table() {
  options= values= kind=none
  case "$1" in
@CASES@
  esac
}

__git_handoff_verbs='@VERBS@'

complete -o bashdefault -o default -o nospace -F __git_handoff_main git-handoff
