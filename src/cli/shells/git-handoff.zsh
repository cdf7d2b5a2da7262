#compdef git-handoff
#description leave handoff notes between coding sessions
# zsh completion for `git-handoff` and, through zsh's git completion, `git handoff`; printed by `git handoff completion zsh`.
# Names of refs are data that others wrote: they reach compadd as an array, which quotes what it inserts.

_git-handoff() {
  emulate -L zsh
  local line
  local -a whole partial lines about
  for line in ${(f)"$(git handoff completion zsh -- ${(Q)words[2,CURRENT-1]} "${(Q)PREFIX}" 2>/dev/null)"}; do
    if [[ $line == */ ]]; then
      partial+=("$line")
    else
      whole+=("${line%%$'\t'*}") about+=("${line/$'\t'/  -- }")
    fi
  done
  (( $#whole + $#partial )) || { _files; return; }
  (( $#whole )) && compadd -l -d about -a whole
  (( $#partial )) && compadd -S '' -a partial
}

if [[ $funcstack[1] == _git-handoff ]]; then
  _git-handoff "$@"
elif (( $+functions[compdef] )); then
  compdef _git-handoff git-handoff
fi
