# ue.bash: completion of ue for bash. Made from muxd/wire/commands.def by make gen; never edited.
_ue_sizes='24x80 40x120 50x160 60x200'

_ue_verbs() {
    printf '%s\n' \
            'exec	run a command in a new session' \
            'write	type into a session and return what it answers' \
            'secret	type a secret, such as a password, where a session'\''s program asks for it' \
            'poll	return what a session has printed' \
            'screen	show what is on a session'\''s terminal' \
            'attach	show a session on this terminal and type into it' \
            'sh	run a shell command to its end, or to its timeout' \
            'patch	edit files as a patch in the form of apply_patch says' \
            'wait	wait until sessions have ended, or have printed something' \
            'events	print what happens, one JSON object a line, as it happens' \
            'logs	print a session'\''s output so far as lines' \
            'watch	follow what several sessions print, as lines with their names' \
            'steps	do several things with a session in one call, up to the first that fails' \
            'kill	end sessions with all their processes, or signal them' \
            'list	list sessions' \
            'top	keep the table of sessions on the screen, and choose from it' \
            'record	record what a session shows into a file (asciicast)' \
            'replay	play a recording' \
            'rename	give a session another name' \
            'resize	change the size of a session'\''s terminal' \
            'rm	forget ended sessions with their output' \
            'call	call a tool by its wire name with its exact argument object' \
            'tools	print the schemas of the tools that models are offered' \
            'mcp	serve the tools to an MCP client on standard input and output' \
            'start	start the daemon when nobody listens' \
            'status	tell about the daemon: places, limits, load' \
            'reload	read the config file again; a broken one changes nothing' \
            'config	print the config in effect with the origin of each value' \
            'upgrade	run the daemon from the binary on disk, sessions kept' \
            'stop	end all sessions and stop the daemon' \
            'help	list the verbs, or explain one'
}

_ue_options() {
    case $1 in
    exec)
        printf '%s\n' \
            '--name	name of the session (default: that of the program)' \
            '--workdir	run in this directory' \
            '--tty	give it a terminal (PTY); default: pipes' \
            '--size	size of the terminal (default 24x80)' \
            '--attach	give it this terminal'\''s size and show it here, as `ue attach` does' \
            '--shell	the shell that runs the command' \
            '--no-login	not as a login shell' \
            '--env	set a variable for it; may be repeated' \
            '--stdin	feed this command'\''s standard input to it (pipes only)' \
            '--yield	wait at most this long: 250, 10s, 5m, inf' \
            '--max-tokens	show at most this much of the output (tokens of 4 bytes; default 10000)' \
            '--max-line	cut each longer line of the output' \
            '--json	print one JSON object' \
            '--raw	print only the session'\''s output bytes' \
            '--status-fd	write the command'\''s own exit status, or its state, to this descriptor' \
            '--until	wait for output that matches this pattern (PCRE2)' \
            '--ready	wait until the program waits for input' \
            '--no-ready	don'\''t return because it waits for input' \
            '--quiet	wait until nothing was printed for this long' \
            '--exit	wait until the command has ended; without -y as long as it takes' \
            '--argv	run the operands as an argument vector, without a shell' \
            '--args	the tool'\''s argument object in place of flags; - reads it from standard input' \
            '-n	name of the session (default: that of the program)' \
            '-C	run in this directory' \
            '-t	give it a terminal (PTY); default: pipes' \
            '-a	give it this terminal'\''s size and show it here, as `ue attach` does' \
            '-s	the shell that runs the command' \
            '-e	set a variable for it; may be repeated' \
            '-y	wait at most this long: 250, 10s, 5m, inf' \
            '-m	show at most this much of the output (tokens of 4 bytes; default 10000)'
        ;;
    write)
        printf '%s\n' \
            '--until	wait for output that matches this pattern (PCRE2)' \
            '--ready	wait until the program waits for input' \
            '--no-ready	don'\''t return because it waits for input' \
            '--quiet	wait until nothing was printed for this long' \
            '--exit	wait until the command has ended; without -y as long as it takes' \
            '--yield	wait at most this long: 250, 10s, 5m, inf' \
            '--max-tokens	show at most this much of the output (tokens of 4 bytes; default 10000)' \
            '--max-line	cut each longer line of the output' \
            '--json	print one JSON object' \
            '--raw	print only the session'\''s output bytes' \
            '--status-fd	write the command'\''s own exit status, or its state, to this descriptor' \
            '--line	Enter after CHARS' \
            '--escapes	decode C escapes in CHARS: \n \t \x1b \033 \u00e9' \
            '--key	a named key after CHARS: Enter, Up, C-c, M-x, F5; may be repeated' \
            '--paste	paste CHARS: marked as such where the program asks for that, without control characters' \
            '--submit	then Enter by itself, once the program has taken the rest and waits for a key' \
            '--wait-keyboard	while a person holds the keyboard: wait for it in place of an error' \
            '--steal	type although a person holds the keyboard ([defaults] keyboard_steal must allow it)' \
            '--reader	read as this reader, which has a place of its own in the output' \
            '--args	the tool'\''s argument object in place of flags; - reads it from standard input' \
            '-y	wait at most this long: 250, 10s, 5m, inf' \
            '-m	show at most this much of the output (tokens of 4 bytes; default 10000)' \
            '-l	Enter after CHARS' \
            '-e	decode C escapes in CHARS: \n \t \x1b \033 \u00e9' \
            '-k	a named key after CHARS: Enter, Up, C-c, M-x, F5; may be repeated'
        ;;
    secret)
        printf '%s\n' \
            '--stage	keep it in locked memory until the program asks, once' \
            '--expire	how long a staged one is kept at most (default 5m)' \
            '--blind	also when the program does not seem to ask: behind ssh, or where it hides its input by itself' \
            '--stdin	read it from standard input, up to the first line end' \
            '--forget	wipe the one that is staged' \
            '--json	print one JSON object'
        ;;
    poll)
        printf '%s\n' \
            '--until	wait for output that matches this pattern (PCRE2)' \
            '--ready	wait until the program waits for input' \
            '--no-ready	don'\''t return because it waits for input' \
            '--quiet	wait until nothing was printed for this long' \
            '--exit	wait until the command has ended; without -y as long as it takes' \
            '--yield	wait at most this long: 250, 10s, 5m, inf' \
            '--max-tokens	show at most this much of the output (tokens of 4 bytes; default 10000)' \
            '--max-line	cut each longer line of the output' \
            '--json	print one JSON object' \
            '--raw	print only the session'\''s output bytes' \
            '--status-fd	write the command'\''s own exit status, or its state, to this descriptor' \
            '--since	read from this absolute offset on' \
            '--to	read up to this offset, without waiting and moving no reader; an answer'\''s JSON names what it left out in truncated' \
            '--peek	leave the reader'\''s place where it is' \
            '--reader	read as this reader, which has a place of its own in the output' \
            '--args	the tool'\''s argument object in place of flags; - reads it from standard input' \
            '-y	wait at most this long: 250, 10s, 5m, inf' \
            '-m	show at most this much of the output (tokens of 4 bytes; default 10000)'
        ;;
    screen)
        printf '%s\n' \
            '--ansi	with colours, as escape sequences' \
            '--html	as a page' \
            '--svg	as a picture' \
            '--join	lines that the terminal has wrapped in one piece' \
            '--cursor	print the cursor'\''s row and column; --html and --svg show it; it counts for the hash' \
            '--hash	print the screen'\''s hash' \
            '--history	so many lines that have scrolled off come first' \
            '--wait-change	wait until the screen differs from the one with this hash' \
            '--stable	wait until the screen has not changed for this long' \
            '--yield	wait at most this long: 250, 10s, 5m, inf' \
            '--json	print one JSON object' \
            '--args	the tool'\''s argument object in place of flags; - reads it from standard input' \
            '-y	wait at most this long: 250, 10s, 5m, inf'
        ;;
    attach)
        printf '%s\n' \
            '--read-only	look only' \
            '--detach-others	send away the others who look at it' \
            '--prefix	the key before ue'\''s own: C-a to C-z, C-\, C-], C-^ or C-_ (default $MUXD_ATTACH_KEY, [attach] key, C-\)' \
            '-r	look only' \
            '-x	send away the others who look at it' \
            '-k	the key before ue'\''s own: C-a to C-z, C-\, C-], C-^ or C-_ (default $MUXD_ATTACH_KEY, [attach] key, C-\)'
        ;;
    sh)
        printf '%s\n' \
            '--timeout	kill it after this long: 250, 10s, 5m (default 10s)' \
            '--name	name of its session (default: that of the program)' \
            '--workdir	run in this directory' \
            '--shell	the shell that runs the command' \
            '--no-login	not as a login shell' \
            '--env	set a variable for it; may be repeated' \
            '--max-tokens	show at most this much of the output (tokens of 4 bytes; default 10000)' \
            '--max-line	cut each longer line of the output' \
            '--json	print one JSON object' \
            '--status-fd	write the command'\''s own exit status, or its state, to this descriptor' \
            '--args	the tool'\''s argument object in place of flags; - reads it from standard input' \
            '-T	kill it after this long: 250, 10s, 5m (default 10s)' \
            '-n	name of its session (default: that of the program)' \
            '-C	run in this directory' \
            '-s	the shell that runs the command' \
            '-e	set a variable for it; may be repeated' \
            '-m	show at most this much of the output (tokens of 4 bytes; default 10000)'
        ;;
    patch)
        printf '%s\n' \
            '--workdir	where relative paths begin' \
            '--json	print one JSON object' \
            '-C	where relative paths begin'
        ;;
    wait)
        printf '%s\n' \
            '--any	until one of them has' \
            '--all	until all of them have (the default)' \
            '--until	wait for output that matches this pattern (PCRE2), unread output included' \
            '--yield	wait at most this long: 250, 10s, 5m, inf' \
            '--json	print one JSON object when all is over' \
            '--status-fd	write the first command'\''s own exit status, or its state, to this descriptor' \
            '-y	wait at most this long: 250, 10s, 5m, inf'
        ;;
    events)
        printf '%s\n' \
            '--since	begin with this event, not with the next one' \
            '--session	only events of this session' \
            '--type	only events of this type, or all; may be repeated' \
            '--count	stop after so many' \
            '--yield	stop after this time: 0, 250, 10s, 5m (default inf)' \
            '--max-bytes	most bytes of a command'\''s whole output in its end (default 1048576; 0: none)' \
            '-t	only events of this type, or all; may be repeated' \
            '-c	stop after so many' \
            '-y	stop after this time: 0, 250, 10s, 5m (default inf)'
        ;;
    logs)
        printf '%s\n' \
            '--follow	go on with what it prints until it ends' \
            '--since	begin at this offset, or at what was printed from a time on: 10m (ago), 14:05, 2026-08-30T14:05' \
            '--raw	the output'\''s bytes as they are' \
            '--input	the input log in place of the output' \
            '--json	one JSON object a line' \
            '-f	go on with what it prints until it ends'
        ;;
    watch)
        printf '%s\n' \
            '--since	with what was printed from this time on: 10m (ago), 14:05' \
            '--json	one JSON object a line'
        ;;
    steps)
        printf '%s\n' \
            '--json	print one JSON object' \
            '--reader	read as this reader, which has a place of its own in the output'
        ;;
    kill)
        printf '%s\n' \
            '--signal	send only this signal' \
            '--all	every live session' \
            '--self	also the session that this command runs in' \
            '--json	print one JSON object' \
            '--args	the tool'\''s argument object in place of flags; - reads it from standard input' \
            '-s	send only this signal'
        ;;
    list)
        printf '%s\n' \
            '--all	ended sessions, too' \
            '--json	print one JSON object' \
            '--args	the tool'\''s argument object in place of flags; - reads it from standard input' \
            '-a	ended sessions, too'
        ;;
    top)
        printf '%s\n' \
            '--all	ended sessions, too' \
            '-a	ended sessions, too'
        ;;
    record)
        printf '%s\n' \
            '--stop	end the recording; all of it is on disk then' \
            '--format	version of asciicast (default 3)' \
            '--input	what is typed, too' \
            '--json	print one JSON object'
        ;;
    replay)
        printf '%s\n' \
            '--speed	so many times as fast: 2, 0.5 (default 1)' \
            '--idle	no pause longer than this (default: what the recording says)' \
            '--raw	all bytes as they were recorded' \
            '-x	so many times as fast: 2, 0.5 (default 1)' \
            '-i	no pause longer than this (default: what the recording says)'
        ;;
    rename)
        printf '%s\n' \
            '--json	print one JSON object'
        ;;
    resize)
        printf '%s\n' \
            '--json	print one JSON object'
        ;;
    rm)
        printf '%s\n' \
            '--json	print one JSON object'
        ;;
    call)
        printf '%s\n' \
            '--json	print one JSON object' \
            '--status-fd	write the command'\''s own exit status, or its state, to this descriptor' \
            '--reader	read as this reader, which has a place of its own in the output'
        ;;
    tools)
        printf '%s\n' \
            '--format	openai (the default), openai-chat, anthropic or mcp' \
            '--extended	with muxd'\''s additional arguments' \
            '--json	in one line'
        ;;
    mcp)
        printf '%s\n' \
            '--reader	read as this reader, which has a place of its own in the output'
        ;;
    status)
        printf '%s\n' \
            '--json	print one JSON object'
        ;;
    reload)
        printf '%s\n' \
            '--json	print one JSON object'
        ;;
    config)
        printf '%s\n' \
            '--json	print one JSON object'
        ;;
    upgrade)
        printf '%s\n' \
            '--json	print one JSON object'
        ;;
    stop)
        printf '%s\n' \
            '--self	also when this command runs in one of the sessions' \
            '--json	print one JSON object'
        ;;
    esac
    printf '%s\n' \
            '--socket	the daemon'\''s socket (default $MUXD_SOCKET, else $XDG_RUNTIME_DIR/muxd/muxd.sock)' \
            '--config	config file of a daemon that is started by this (default $MUXD_CONFIG)' \
            '--no-start	don'\''t start the daemon when nobody listens' \
            '--help	print help' \
            '--version	print the versions of ue, muxd and the protocol' \
            '-S	the daemon'\''s socket (default $MUXD_SOCKET, else $XDG_RUNTIME_DIR/muxd/muxd.sock)' \
            '-f	config file of a daemon that is started by this (default $MUXD_CONFIG)' \
            '-h	print help' \
            '-V	print the versions of ue, muxd and the protocol'
}

# Options that take a value: kind says which.
_ue_option() {
    case $1:$2 in
    exec:--name | exec:-n) kind=described ;;
    exec:--workdir | exec:-C) kind=dir ;;
    exec:--size) kind=size ;;
    exec:--shell | exec:-s) kind=shells ;;
    exec:--env | exec:-e) kind=env ;;
    exec:--yield | exec:-y) kind=none ;;
    exec:--max-tokens | exec:-m) kind=none ;;
    exec:--max-line) kind=none ;;
    exec:--status-fd) kind=none ;;
    exec:--until) kind=none ;;
    exec:--quiet) kind=none ;;
    exec:--args) kind=none ;;
    write:--until) kind=none ;;
    write:--quiet) kind=none ;;
    write:--yield | write:-y) kind=none ;;
    write:--max-tokens | write:-m) kind=none ;;
    write:--max-line) kind=none ;;
    write:--status-fd) kind=none ;;
    write:--key | write:-k) kind=keys ;;
    write:--reader) kind=none ;;
    write:--args) kind=none ;;
    secret:--expire) kind=none ;;
    poll:--until) kind=none ;;
    poll:--quiet) kind=none ;;
    poll:--yield | poll:-y) kind=none ;;
    poll:--max-tokens | poll:-m) kind=none ;;
    poll:--max-line) kind=none ;;
    poll:--status-fd) kind=none ;;
    poll:--since) kind=none ;;
    poll:--to) kind=none ;;
    poll:--reader) kind=none ;;
    poll:--args) kind=none ;;
    screen:--history) kind=none ;;
    screen:--wait-change) kind=none ;;
    screen:--stable) kind=none ;;
    screen:--yield | screen:-y) kind=none ;;
    screen:--args) kind=none ;;
    attach:--prefix | attach:-k) kind=keys ;;
    sh:--timeout | sh:-T) kind=none ;;
    sh:--name | sh:-n) kind=none ;;
    sh:--workdir | sh:-C) kind=dir ;;
    sh:--shell | sh:-s) kind=shells ;;
    sh:--env | sh:-e) kind=env ;;
    sh:--max-tokens | sh:-m) kind=none ;;
    sh:--max-line) kind=none ;;
    sh:--status-fd) kind=none ;;
    sh:--args) kind=none ;;
    patch:--workdir | patch:-C) kind=dir ;;
    wait:--until) kind=none ;;
    wait:--yield | wait:-y) kind=none ;;
    wait:--status-fd) kind=none ;;
    events:--since) kind=none ;;
    events:--session) kind=sessions ;;
    events:--type | events:-t) kind=events ;;
    events:--count | events:-c) kind=none ;;
    events:--yield | events:-y) kind=none ;;
    events:--max-bytes) kind=none ;;
    logs:--since) kind=none ;;
    watch:--since) kind=none ;;
    steps:--reader) kind=none ;;
    kill:--signal | kill:-s) kind=signals ;;
    kill:--args) kind=none ;;
    list:--args) kind=none ;;
    record:--format) kind=none ;;
    replay:--speed | replay:-x) kind=none ;;
    replay:--idle | replay:-i) kind=none ;;
    call:--status-fd) kind=none ;;
    call:--reader) kind=none ;;
    tools:--format) kind=formats ;;
    mcp:--reader) kind=none ;;
    *:--socket | *:-S) kind=file ;;
    *:--config | *:-f) kind=file ;;
    esac
}

_ue_operand() {
    case $1:$2 in
    exec:0) kind=command ;;
    exec:1) kind=file ;;
    exec:2) kind=file ;;
    exec:*) kind=file ;;
    write:0) kind=sessions ;;
    write:1) kind=none ;;
    secret:0) kind=sessions ;;
    poll:0) kind=sessions ;;
    screen:0) kind=sessions ;;
    attach:0) kind=sessions ;;
    sh:0) kind=command ;;
    sh:1) kind=file ;;
    sh:2) kind=file ;;
    sh:*) kind=file ;;
    patch:0) kind=file ;;
    wait:0) kind=sessions ;;
    wait:1) kind=sessions ;;
    wait:2) kind=sessions ;;
    wait:*) kind=sessions ;;
    logs:0) kind=sessions ;;
    watch:0) kind=sessions ;;
    watch:1) kind=sessions ;;
    watch:2) kind=sessions ;;
    watch:*) kind=sessions ;;
    steps:0) kind=sessions ;;
    steps:1) kind=file ;;
    kill:0) kind=sessions ;;
    kill:1) kind=sessions ;;
    kill:2) kind=sessions ;;
    kill:*) kind=sessions ;;
    list:0) kind=sessions ;;
    list:1) kind=sessions ;;
    list:2) kind=sessions ;;
    list:*) kind=sessions ;;
    record:0) kind=sessions ;;
    record:1) kind=file ;;
    replay:0) kind=file ;;
    rename:0) kind=sessions ;;
    rename:1) kind=none ;;
    resize:0) kind=sessions ;;
    resize:1) kind=size ;;
    rm:0) kind=ended ;;
    rm:1) kind=ended ;;
    rm:2) kind=ended ;;
    rm:*) kind=ended ;;
    call:0) kind=tools ;;
    call:1) kind=none ;;
    help:0) kind=verbs ;;
    esac
}

# The lines on standard input that begin with $1 become the candidates.
_ue_offer() {
    local line word found=() lines=() IFS=$'\n'
    while read -r line; do
        word=${line%%$'\t'*}
        [[ $word == "$1"* ]] || continue
        found+=("$word")
        lines+=("$line")
    done
    if [[ ${COMP_TYPE-} == 63 && ${#found[@]} -gt 1 ]]; then
        found=()
        for line in "${lines[@]}"; do
            word=${line#*$'\t'}
            found+=("${line%%$'\t'*}${word:+  ($word)}")
        done
    fi
    COMPREPLY=("${found[@]}")
}

_ue_files() {
    local IFS=$'\n'
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
}

_ue_values() {
    case $1 in
    none) ;;
    file) _ue_files -f "$2" ;;
    dir) _ue_files -d "$2" ;;
    command) _ue_files -c "$2" ;;
    verbs) _ue_offer "$2" < <(_ue_verbs) ;;
    size) _ue_offer "$2" < <(printf '%s\t\n' $_ue_sizes) ;;
    env)
        compopt -o nospace 2>/dev/null
        _ue_offer "$2" < <(compgen -e | while read -r name; do printf '%s=\t\n' "$name"; done)
        ;;
    *) _ue_offer "$2" < <("${_ue_command[@]}" complete "$1" 2>/dev/null </dev/null) ;;
    esac
}

_ue() {
    local cur=${COMP_WORDS[COMP_CWORD]} verb='' pending='' option='' ended='' operand=0 kind word i
    local _ue_command=("${COMP_WORDS[0]/#\~/$HOME}")
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $pending ]]; then
            [[ $word == = ]] && continue
            [[ $option == -S || $option == --socket ]] && _ue_command+=(-S "$word")
            pending=''
        elif [[ ! $ended && $word == -- ]]; then
            ended=1
        elif [[ ! $ended && $word == -?* ]]; then
            kind='' option=$word
            _ue_option "$verb" "$word"
            pending=$kind
        elif [[ ! $verb ]]; then
            verb=$word
        else
            operand=$((operand + 1))
            [[ $verb == exec ]] && ended=1
        fi
    done
    if [[ $pending ]]; then
        _ue_values "$pending" "${cur#=}"
    elif [[ ! $ended && $cur == -* ]]; then
        _ue_offer "$cur" < <(_ue_options "$verb")
    elif [[ ! $verb ]]; then
        _ue_values verbs "$cur"
    else
        kind=none
        _ue_operand "$verb" "$operand"
        _ue_values "$kind" "$cur"
    fi
}
complete -F _ue ue
