#compdef git-handoff
#description leave handoff notes between coding sessions
# zsh completion for git-handoff, by itself and behind zsh's own for git; written by `git handoff completion zsh`.
# Names of refs are data that others wrote: they reach compadd as an array, which quotes what it inserts.

# Offers the names in $reply, with $1 behind each. A name that a terminal must not be shown raw (control characters,
# text that runs backwards) or that would be an option is left out.
__git_handoff_offer() {
  emulate -L zsh
  local suffix=$1 unsafe=$'(-*|*[\x01-\x1f\x7f\u0080-\u009f\u2000-\u200f\u2028-\u202f\u2060-\u206f\ufeff]*)'
  reply=(${reply:#${~unsafe}})
  (( $#reply )) || return 1
  compadd -S "$suffix" -a reply
}

# Sets $reply: a branch as the one component of a ref that its handoffs stand under.
__git_handoff_encode() {
  REPLY=${${1//\%/%25}//\//%2F}
}

# Topics: those of the current branch by their names alone, those of all branches as <branch>/<topic>.
__git_handoff_topics() {
  emulate -L zsh
  local raw=${(Q)PREFIX} here REPLY ref component branch topic
  local -a patterns reply
  # No ref has these; git would take them for a pattern.
  [[ $raw == *[*?\[\\]* ]] && return 1
  here=$(git symbolic-ref -q HEAD 2>/dev/null)
  __git_handoff_encode "${here#refs/heads/}"
  here=$REPLY
  __git_handoff_encode "$raw"
  patterns=("refs/handoffs/$REPLY*/*")
  if [[ $raw == */* ]]; then
    __git_handoff_encode "${raw%/*}"
    patterns+=("refs/handoffs/$REPLY/${raw##*/}*")
  elif [[ -n $here ]]; then
    patterns+=("refs/handoffs/$here/$raw*")
  fi
  for ref in ${(f)"$(git for-each-ref --count=1000 --format='%(refname:lstrip=2)' $patterns 2>/dev/null)"}; do
    component=${ref%%/*} topic=${ref#*/}
    [[ $topic == *[^a-z0-9-]* ]] && continue
    [[ $component == "$here" ]] && reply+=("$topic")
    # A long branch name is cut in the ref; the whole one is not known here.
    [[ $component == *%-* ]] && continue
    branch=${${component//\%2F//}//\%25/%}
    reply+=("$branch/$topic")
  done
  __git_handoff_offer ' '
}

# With / behind each for the beginning of a topic; _arguments hands on words of its own.
__git_handoff_branches() {
  emulate -L zsh
  local raw=${(Q)PREFIX} suffix=' '
  [[ ${1-} == / ]] && suffix=/
  local -a reply
  [[ $raw == *[*?\[\\]* ]] && return 1
  reply=(${(f)"$(git for-each-ref --count=1000 --format='%(refname:lstrip=2)' "refs/heads/$raw*" "refs/heads/$raw*/**" 2>/dev/null)"})
  __git_handoff_offer "$suffix"
}

# A topic that need not exist yet.
__git_handoff_places() {
  local ret=1
  __git_handoff_topics && ret=0
  __git_handoff_branches / && ret=0
  return ret
}

__git_handoff_sessions() {
  emulate -L zsh
  local -a reply
  reply=(${(f)"$(git for-each-ref --count=1000 --format='%(refname:lstrip=4)' refs/handoffs-local/live 2>/dev/null)"})
  __git_handoff_offer ' '
}

_git-handoff() {
  local curcontext=$curcontext verb
  local -a verbs
  if (( CURRENT == 2 )); then
    verbs=(
@VERBS@
    )
    _describe -t commands 'git handoff verb' verbs
    return
  fi
  verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
@CASES@
  esac
}

if [[ $funcstack[1] == _git-handoff ]]; then
  _git-handoff "$@"
elif (( $+functions[compdef] )); then
  compdef _git-handoff git-handoff
fi
