# fish completion for git-handoff, by itself and behind fish's own for git; written by `git handoff completion fish`.
# Names of refs are data that others wrote: they are lines of output, which fish quotes when it inserts them.

# git, without the noise of a folder that is no repository.
function __git_handoff_git
    command git $argv 2>/dev/null
end

# fish's completion for git asks with `git-handoff` as the first word, too.
function __git_handoff_needs_verb
    test (count (commandline -opc)) -eq 1
end

function __git_handoff_verb
    set -l words (commandline -opc)
    test "$words[2]" = $argv[1]; and not contains -- -- $words
end

# Passes on names that may be shown raw: no control characters, no text that runs backwards, none like an option.
function __git_handoff_harmless
    string match -rv -- '^-|[\x01-\x1f\x7f\x{80}-\x{9f}\x{2000}-\x{200f}\x{2028}-\x{202f}\x{2060}-\x{206f}\x{feff}]' $argv
end

function __git_handoff_encode
    string replace -a % %25 -- $argv[1] | string replace -a / %2F
end

# What is typed of the current word; fails where it holds what no ref has and git would take for a pattern.
function __git_handoff_typed
    set -l typed (string unescape -- (commandline -ct) | string replace -r '^--[a-z-]+=' '')
    string match -q -r '[*?\[\\\\]' -- "$typed"; and return 1
    echo -- $typed
end

# Topics: those of the current branch by their names alone, those of all branches as <branch>/<topic>.
function __git_handoff_topics
    set -l raw (__git_handoff_typed); or return
    set -l here (__git_handoff_git symbolic-ref -q HEAD | string replace refs/heads/ '')
    set -l component (__git_handoff_encode "$here")
    set -l patterns "refs/handoffs/"(__git_handoff_encode "$raw")"*/*"
    if string match -q '*/*' -- "$raw"
        set -l parts (string split -r -m1 / -- $raw)
        set -a patterns "refs/handoffs/"(__git_handoff_encode "$parts[1]")"/$parts[2]*"
    else if test -n "$component"
        set -a patterns "refs/handoffs/$component/$raw*"
    end
    set -l refs (__git_handoff_git for-each-ref --count=1000 --format='%(refname:lstrip=2)' $patterns |
        string match -r '^[^/]+/[a-z0-9-]+$')
    # A long branch name is cut in the ref; the whole one is not known here.
    __git_handoff_harmless (string match -v '*%-*/*' -- $refs | string replace -a %2F / | string replace -a %25 %)
    test -n "$component"; or return
    for ref in $refs
        set -l parts (string split / -- $ref)
        test "$parts[1]" = "$component"; and echo -- $parts[2]
    end
end

# Branches, with what is given behind each.
function __git_handoff_branches
    set -l raw (__git_handoff_typed); or return
    set -l branches (__git_handoff_git for-each-ref --count=1000 --format='%(refname:lstrip=2)' \
        "refs/heads/$raw*" "refs/heads/$raw*/**")
    for branch in (__git_handoff_harmless $branches)
        echo -- "$branch$argv[1]"
    end
end

function __git_handoff_places
    __git_handoff_topics
    __git_handoff_branches /
end

function __git_handoff_sessions
    __git_handoff_harmless (__git_handoff_git for-each-ref --count=1000 --format='%(refname:lstrip=4)' \
        refs/handoffs-local/live)
end

complete -c git-handoff -e
complete -c git-handoff -f
@VERBS@
@CASES@
