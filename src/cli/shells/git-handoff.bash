# bash completion for `git-handoff` and, through git's own completion, `git handoff`; printed by `git handoff completion bash`.
# Names of refs are data that others wrote: they are quoted here, never expanded (`compgen -W` would expand them).

# Asks git-handoff, in the repository that the command line names (`git -C <path> handoff ...`).
__git_handoff_ask() {
  if declare -F __git >/dev/null; then
    __git handoff completion bash -- "$@"
  else
    git handoff completion bash -- "$@" 2>/dev/null
  fi
}

# $1: the index of the word `handoff` or `git-handoff`.
__git_handoff_from() {
  local typed=$cur line word quoted dropped=
  case "$cur" in
    [\'\"]*) typed=${cur#?} ;;
    *) typed=${cur//\\/} ;;
  esac
  # readline ends a word at an equals sign, and replaces only what follows the last equals sign.
  case "$COMP_WORDBREAKS$cur" in *=*=*) dropped=${cur%"${cur##*=}"} ;; esac
  COMPREPLY=()
  while IFS= read -r line; do
    word=${line%%$'\t'*}
    printf -v quoted %q "$word"
    # Within quotes, other quoting rules apply: only names that need no quoting are offered there.
    case "$cur" in [\'\"]*) [ "$quoted" = "$word" ] || continue ;; esac
    case "$word" in */) ;; *) quoted+=' ' ;; esac
    COMPREPLY+=("${quoted#"$dropped"}")
  done < <(__git_handoff_ask "${words[@]:$1 + 1:cword - $1 - 1}" "$typed")
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

complete -o bashdefault -o default -o nospace -F __git_handoff_main git-handoff
