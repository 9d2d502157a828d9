# ue.fish: completion of ue for fish; ue itself knows what can stand there (client/verbs/complete.h).
function __ue_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct) ''
    set -l answer ($words[1] complete fish $words[2..-1] $word[1] 2>/dev/null </dev/null)
    set -l head (string split ' ' -- $answer[1])
    test (count $head) = 3; or return
    set -l lead (string sub -l $head[2] -- $word[1])
    set -l value (string sub -s (math $head[2] + 1) -- $word[1])
    switch $head[1]
        case file
            printf '%s\n' $lead(__fish_complete_path $value)
        case dir
            printf '%s\n' $lead(__fish_complete_directories $value '')
        case command
            set -l before (string escape -- $words[(math $head[3] + 1)..-1])
            complete -C "$before $word[1]"
        case '*'
            printf '%s\n' $answer[2..-1]
    end
end
complete -c ue -e
complete -c ue -f -a '(__ue_complete)'
