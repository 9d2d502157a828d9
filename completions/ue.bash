# ue.bash: completion of ue for bash; ue itself knows what can stand there (client/verbs/complete.h).
_ue() {
    local IFS=$'\n' answer kind skip
    COMPREPLY=()
    mapfile -t answer < <("${1/#\~/$HOME}" complete bash "$COMP_TYPE" "$2" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null </dev/null)
    kind=${answer-} skip=${answer-}
    kind=${kind%% *} skip=${skip#* }
    case $kind in
    file | dir | command)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen "-${kind:0:1}" -- "${answer[1]}")
        COMPREPLY=("${COMPREPLY[@]#"${answer[1]:0:${skip% *}}"}")
        ;;
    open | words)
        [[ $kind == words ]] || compopt -o nospace
        COMPREPLY=("${answer[@]:2}")
        ;;
    esac
}
complete -F _ue ue
