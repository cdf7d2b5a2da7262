# fish completion for `git-handoff` and, through fish's git completion, `git handoff`; printed by `git handoff completion fish`.
# Names of refs are data that others wrote: they are lines of output, which fish quotes when it inserts them.

function __git_handoff_candidates
    set -l typed (commandline -ct)
    set -l found (command git handoff completion fish -- (commandline -opc)[2..-1] (string unescape -- $typed) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path $typed
    end
end

complete -c git-handoff -e
complete -c git-handoff -f -a '(__git_handoff_candidates)'
