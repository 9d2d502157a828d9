# ue.fish: completion of ue for fish. Made from muxd/wire/commands.def by make gen; never edited.

# Candidates of one kind, with descriptions, from ue itself.
function __ue_ask
    set -l tokens (commandline -opc)
    set -l at
    for i in (seq 2 (count $tokens))
        contains -- $tokens[$i] -S --socket; and test $i -lt (count $tokens); and set at -S $tokens[(math $i + 1)]
    end
    $tokens[1] $at complete $argv[1] 2>/dev/null </dev/null
end

# __ue_at VERB [INDEX]: the verb is VERB ('' for none yet), and the word that is typed is its operand INDEX.
function __ue_at
    set -l verb ''
    set -l operand 0
    set -l ended 0
    set -l skip 0
    set -l tokens (commandline -opc)
    for token in $tokens[2..-1]
        if test $skip = 1
            set skip 0
        else if test $ended = 0; and test "$token" = --
            set ended 1
        else if test $ended = 0; and string match -qr -- '^-.' "$token"
            contains -- "$verb $token" $__ue_takes; or contains -- "* $token" $__ue_takes; and set skip 1
        else if test -z "$verb"
            set verb "$token"
        else
            set operand (math $operand + 1)
            test "$verb" = exec; and set ended 1
        end
    end
    test "$verb" = "$argv[1]"; or return 1
    if set -q argv[2]
        test $operand = $argv[2]; or begin
            test $argv[2] = rest; and test $operand -ge $argv[3]
        end
    else
        test $ended = 0
    end
end

function __ue_env
    set -xn | string replace -r '$' =
end

complete -c ue -e
complete -c ue -f

# Options that take a value, with their verb.
set -g __ue_takes \
    '* --socket' '* -S' \
    '* --config' '* -f' \
    'exec --name' 'exec -n' \
    'exec --workdir' 'exec -C' \
    'exec --size' \
    'exec --shell' 'exec -s' \
    'exec --env' 'exec -e' \
    'exec --yield' 'exec -y' \
    'exec --max-tokens' 'exec -m' \
    'exec --max-line' \
    'exec --status-fd' \
    'exec --until' \
    'exec --quiet' \
    'exec --args' \
    'write --until' \
    'write --quiet' \
    'write --yield' 'write -y' \
    'write --max-tokens' 'write -m' \
    'write --max-line' \
    'write --status-fd' \
    'write --key' 'write -k' \
    'write --reader' \
    'write --args' \
    'secret --expire' \
    'poll --until' \
    'poll --quiet' \
    'poll --yield' 'poll -y' \
    'poll --max-tokens' 'poll -m' \
    'poll --max-line' \
    'poll --status-fd' \
    'poll --since' \
    'poll --to' \
    'poll --reader' \
    'poll --args' \
    'screen --history' \
    'screen --wait-change' \
    'screen --stable' \
    'screen --yield' 'screen -y' \
    'screen --args' \
    'attach --prefix' 'attach -k' \
    'sh --timeout' 'sh -T' \
    'sh --name' 'sh -n' \
    'sh --workdir' 'sh -C' \
    'sh --shell' 'sh -s' \
    'sh --env' 'sh -e' \
    'sh --max-tokens' 'sh -m' \
    'sh --max-line' \
    'sh --status-fd' \
    'sh --args' \
    'patch --workdir' 'patch -C' \
    'wait --until' \
    'wait --yield' 'wait -y' \
    'wait --status-fd' \
    'events --since' \
    'events --session' \
    'events --type' 'events -t' \
    'events --count' 'events -c' \
    'events --yield' 'events -y' \
    'events --max-bytes' \
    'logs --since' \
    'watch --since' \
    'steps --reader' \
    'kill --signal' 'kill -s' \
    'kill --args' \
    'list --args' \
    'record --format' \
    'replay --speed' 'replay -x' \
    'replay --idle' 'replay -i' \
    'call --status-fd' \
    'call --reader' \
    'tools --format' \
    'mcp --reader'

complete -c ue -n '__ue_at ""' -f -a exec -d 'run a command in a new session'
complete -c ue -n '__ue_at ""' -f -a write -d 'type into a session and return what it answers'
complete -c ue -n '__ue_at ""' -f -a secret -d 'type a secret, such as a password, where a session\'s program asks for it'
complete -c ue -n '__ue_at ""' -f -a poll -d 'return what a session has printed'
complete -c ue -n '__ue_at ""' -f -a screen -d 'show what is on a session\'s terminal'
complete -c ue -n '__ue_at ""' -f -a attach -d 'show a session on this terminal and type into it'
complete -c ue -n '__ue_at ""' -f -a sh -d 'run a shell command to its end, or to its timeout'
complete -c ue -n '__ue_at ""' -f -a patch -d 'edit files as a patch in the form of apply_patch says'
complete -c ue -n '__ue_at ""' -f -a wait -d 'wait until sessions have ended, or have printed something'
complete -c ue -n '__ue_at ""' -f -a events -d 'print what happens, one JSON object a line, as it happens'
complete -c ue -n '__ue_at ""' -f -a logs -d 'print a session\'s output so far as lines'
complete -c ue -n '__ue_at ""' -f -a watch -d 'follow what several sessions print, as lines with their names'
complete -c ue -n '__ue_at ""' -f -a steps -d 'do several things with a session in one call, up to the first that fails'
complete -c ue -n '__ue_at ""' -f -a kill -d 'end sessions with all their processes, or signal them'
complete -c ue -n '__ue_at ""' -f -a list -d 'list sessions'
complete -c ue -n '__ue_at ""' -f -a top -d 'keep the table of sessions on the screen, and choose from it'
complete -c ue -n '__ue_at ""' -f -a record -d 'record what a session shows into a file (asciicast)'
complete -c ue -n '__ue_at ""' -f -a replay -d 'play a recording'
complete -c ue -n '__ue_at ""' -f -a rename -d 'give a session another name'
complete -c ue -n '__ue_at ""' -f -a resize -d 'change the size of a session\'s terminal'
complete -c ue -n '__ue_at ""' -f -a rm -d 'forget ended sessions with their output'
complete -c ue -n '__ue_at ""' -f -a call -d 'call a tool by its wire name with its exact argument object'
complete -c ue -n '__ue_at ""' -f -a tools -d 'print the schemas of the tools that models are offered'
complete -c ue -n '__ue_at ""' -f -a mcp -d 'serve the tools to an MCP client on standard input and output'
complete -c ue -n '__ue_at ""' -f -a start -d 'start the daemon when nobody listens'
complete -c ue -n '__ue_at ""' -f -a status -d 'tell about the daemon: places, limits, load'
complete -c ue -n '__ue_at ""' -f -a reload -d 'read the config file again; a broken one changes nothing'
complete -c ue -n '__ue_at ""' -f -a config -d 'print the config in effect with the origin of each value'
complete -c ue -n '__ue_at ""' -f -a upgrade -d 'run the daemon from the binary on disk, sessions kept'
complete -c ue -n '__ue_at ""' -f -a stop -d 'end all sessions and stop the daemon'
complete -c ue -n '__ue_at ""' -f -a help -d 'list the verbs, or explain one'
complete -c ue -s S -l socket -r -F -d 'the daemon\'s socket (default $MUXD_SOCKET, else $XDG_RUNTIME_DIR/muxd/muxd.sock)'
complete -c ue -s f -l config -r -F -d 'config file of a daemon that is started by this (default $MUXD_CONFIG)'
complete -c ue -l no-start -d 'don\'t start the daemon when nobody listens'
complete -c ue -s h -l help -d 'print help'
complete -c ue -s V -l version -d 'print the versions of ue, muxd and the protocol'
complete -c ue -n '__ue_at exec' -s n -l name -r -f -a '(__ue_ask described)' -d 'name of the session (default: that of the program)'
complete -c ue -n '__ue_at exec' -s C -l workdir -r -f -a '(__fish_complete_directories (commandline -ct))' -d 'run in this directory'
complete -c ue -n '__ue_at exec' -s t -l tty -d 'give it a terminal (PTY); default: pipes'
complete -c ue -n '__ue_at exec' -l size -r -f -a '24x80 40x120 50x160 60x200' -d 'size of the terminal (default 24x80)'
complete -c ue -n '__ue_at exec' -s a -l attach -d 'give it this terminal\'s size and show it here, as `ue attach` does'
complete -c ue -n '__ue_at exec' -s s -l shell -r -f -a '(__ue_ask shells)' -d 'the shell that runs the command'
complete -c ue -n '__ue_at exec' -l no-login -d 'not as a login shell'
complete -c ue -n '__ue_at exec' -s e -l env -r -f -a '(__ue_env)' -d 'set a variable for it; may be repeated'
complete -c ue -n '__ue_at exec' -l stdin -d 'feed this command\'s standard input to it (pipes only)'
complete -c ue -n '__ue_at exec' -s y -l yield -r -f -d 'wait at most this long: 250, 10s, 5m, inf'
complete -c ue -n '__ue_at exec' -s m -l max-tokens -r -f -d 'show at most this much of the output (tokens of 4 bytes; default 10000)'
complete -c ue -n '__ue_at exec' -l max-line -r -f -d 'cut each longer line of the output'
complete -c ue -n '__ue_at exec' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at exec' -l raw -d 'print only the session\'s output bytes'
complete -c ue -n '__ue_at exec' -l status-fd -r -f -d 'write the command\'s own exit status, or its state, to this descriptor'
complete -c ue -n '__ue_at exec' -l until -r -f -d 'wait for output that matches this pattern (PCRE2)'
complete -c ue -n '__ue_at exec' -l ready -d 'wait until the program waits for input'
complete -c ue -n '__ue_at exec' -l no-ready -d 'don\'t return because it waits for input'
complete -c ue -n '__ue_at exec' -l quiet -r -f -d 'wait until nothing was printed for this long'
complete -c ue -n '__ue_at exec' -l exit -d 'wait until the command has ended; without -y as long as it takes'
complete -c ue -n '__ue_at exec' -l argv -d 'run the operands as an argument vector, without a shell'
complete -c ue -n '__ue_at exec' -l args -r -f -d 'the tool\'s argument object in place of flags; - reads it from standard input'
complete -c ue -n '__ue_at exec 0' -f -a '(complete -C (commandline -ct))'
complete -c ue -n '__ue_at exec 1' -F
complete -c ue -n '__ue_at exec 2' -F
complete -c ue -n '__ue_at exec rest 3' -F
complete -c ue -n '__ue_at write' -l until -r -f -d 'wait for output that matches this pattern (PCRE2)'
complete -c ue -n '__ue_at write' -l ready -d 'wait until the program waits for input'
complete -c ue -n '__ue_at write' -l no-ready -d 'don\'t return because it waits for input'
complete -c ue -n '__ue_at write' -l quiet -r -f -d 'wait until nothing was printed for this long'
complete -c ue -n '__ue_at write' -l exit -d 'wait until the command has ended; without -y as long as it takes'
complete -c ue -n '__ue_at write' -s y -l yield -r -f -d 'wait at most this long: 250, 10s, 5m, inf'
complete -c ue -n '__ue_at write' -s m -l max-tokens -r -f -d 'show at most this much of the output (tokens of 4 bytes; default 10000)'
complete -c ue -n '__ue_at write' -l max-line -r -f -d 'cut each longer line of the output'
complete -c ue -n '__ue_at write' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at write' -l raw -d 'print only the session\'s output bytes'
complete -c ue -n '__ue_at write' -l status-fd -r -f -d 'write the command\'s own exit status, or its state, to this descriptor'
complete -c ue -n '__ue_at write' -s l -l line -d 'Enter after CHARS'
complete -c ue -n '__ue_at write' -s e -l escapes -d 'decode C escapes in CHARS: \\n \\t \\x1b \\033 \\u00e9'
complete -c ue -n '__ue_at write' -s k -l key -r -f -a '(__ue_ask keys)' -d 'a named key after CHARS: Enter, Up, C-c, M-x, F5; may be repeated'
complete -c ue -n '__ue_at write' -l paste -d 'paste CHARS: marked as such where the program asks for that, without control characters'
complete -c ue -n '__ue_at write' -l submit -d 'then Enter by itself, once the program has taken the rest and waits for a key'
complete -c ue -n '__ue_at write' -l wait-keyboard -d 'while a person holds the keyboard: wait for it in place of an error'
complete -c ue -n '__ue_at write' -l steal -d 'type although a person holds the keyboard ([defaults] keyboard_steal must allow it)'
complete -c ue -n '__ue_at write' -l reader -r -f -d 'read as this reader, which has a place of its own in the output'
complete -c ue -n '__ue_at write' -l args -r -f -d 'the tool\'s argument object in place of flags; - reads it from standard input'
complete -c ue -n '__ue_at write 0' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at secret' -l stage -d 'keep it in locked memory until the program asks, once'
complete -c ue -n '__ue_at secret' -l expire -r -f -d 'how long a staged one is kept at most (default 5m)'
complete -c ue -n '__ue_at secret' -l blind -d 'also when the program does not seem to ask: behind ssh, or where it hides its input by itself'
complete -c ue -n '__ue_at secret' -l stdin -d 'read it from standard input, up to the first line end'
complete -c ue -n '__ue_at secret' -l forget -d 'wipe the one that is staged'
complete -c ue -n '__ue_at secret' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at secret 0' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at poll' -l until -r -f -d 'wait for output that matches this pattern (PCRE2)'
complete -c ue -n '__ue_at poll' -l ready -d 'wait until the program waits for input'
complete -c ue -n '__ue_at poll' -l no-ready -d 'don\'t return because it waits for input'
complete -c ue -n '__ue_at poll' -l quiet -r -f -d 'wait until nothing was printed for this long'
complete -c ue -n '__ue_at poll' -l exit -d 'wait until the command has ended; without -y as long as it takes'
complete -c ue -n '__ue_at poll' -s y -l yield -r -f -d 'wait at most this long: 250, 10s, 5m, inf'
complete -c ue -n '__ue_at poll' -s m -l max-tokens -r -f -d 'show at most this much of the output (tokens of 4 bytes; default 10000)'
complete -c ue -n '__ue_at poll' -l max-line -r -f -d 'cut each longer line of the output'
complete -c ue -n '__ue_at poll' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at poll' -l raw -d 'print only the session\'s output bytes'
complete -c ue -n '__ue_at poll' -l status-fd -r -f -d 'write the command\'s own exit status, or its state, to this descriptor'
complete -c ue -n '__ue_at poll' -l since -r -f -d 'read from this absolute offset on'
complete -c ue -n '__ue_at poll' -l to -r -f -d 'read up to this offset, without waiting and moving no reader; an answer\'s JSON names what it left out in truncated'
complete -c ue -n '__ue_at poll' -l peek -d 'leave the reader\'s place where it is'
complete -c ue -n '__ue_at poll' -l reader -r -f -d 'read as this reader, which has a place of its own in the output'
complete -c ue -n '__ue_at poll' -l args -r -f -d 'the tool\'s argument object in place of flags; - reads it from standard input'
complete -c ue -n '__ue_at poll 0' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at screen' -l ansi -d 'with colours, as escape sequences'
complete -c ue -n '__ue_at screen' -l html -d 'as a page'
complete -c ue -n '__ue_at screen' -l svg -d 'as a picture'
complete -c ue -n '__ue_at screen' -l join -d 'lines that the terminal has wrapped in one piece'
complete -c ue -n '__ue_at screen' -l cursor -d 'print the cursor\'s row and column; --html and --svg show it; it counts for the hash'
complete -c ue -n '__ue_at screen' -l hash -d 'print the screen\'s hash'
complete -c ue -n '__ue_at screen' -l history -r -f -d 'so many lines that have scrolled off come first'
complete -c ue -n '__ue_at screen' -l wait-change -r -f -d 'wait until the screen differs from the one with this hash'
complete -c ue -n '__ue_at screen' -l stable -r -f -d 'wait until the screen has not changed for this long'
complete -c ue -n '__ue_at screen' -s y -l yield -r -f -d 'wait at most this long: 250, 10s, 5m, inf'
complete -c ue -n '__ue_at screen' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at screen' -l args -r -f -d 'the tool\'s argument object in place of flags; - reads it from standard input'
complete -c ue -n '__ue_at screen 0' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at attach' -s r -l read-only -d 'look only'
complete -c ue -n '__ue_at attach' -s x -l detach-others -d 'send away the others who look at it'
complete -c ue -n '__ue_at attach' -s k -l prefix -r -f -a '(__ue_ask keys)' -d 'the key before ue\'s own: C-a to C-z, C-\\, C-], C-^ or C-_ (default $MUXD_ATTACH_KEY, [attach] key, C-\\)'
complete -c ue -n '__ue_at attach 0' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at sh' -s T -l timeout -r -f -d 'kill it after this long: 250, 10s, 5m (default 10s)'
complete -c ue -n '__ue_at sh' -s n -l name -r -f -d 'name of its session (default: that of the program)'
complete -c ue -n '__ue_at sh' -s C -l workdir -r -f -a '(__fish_complete_directories (commandline -ct))' -d 'run in this directory'
complete -c ue -n '__ue_at sh' -s s -l shell -r -f -a '(__ue_ask shells)' -d 'the shell that runs the command'
complete -c ue -n '__ue_at sh' -l no-login -d 'not as a login shell'
complete -c ue -n '__ue_at sh' -s e -l env -r -f -a '(__ue_env)' -d 'set a variable for it; may be repeated'
complete -c ue -n '__ue_at sh' -s m -l max-tokens -r -f -d 'show at most this much of the output (tokens of 4 bytes; default 10000)'
complete -c ue -n '__ue_at sh' -l max-line -r -f -d 'cut each longer line of the output'
complete -c ue -n '__ue_at sh' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at sh' -l status-fd -r -f -d 'write the command\'s own exit status, or its state, to this descriptor'
complete -c ue -n '__ue_at sh' -l args -r -f -d 'the tool\'s argument object in place of flags; - reads it from standard input'
complete -c ue -n '__ue_at sh 0' -f -a '(complete -C (commandline -ct))'
complete -c ue -n '__ue_at sh 1' -F
complete -c ue -n '__ue_at sh 2' -F
complete -c ue -n '__ue_at sh rest 3' -F
complete -c ue -n '__ue_at patch' -s C -l workdir -r -f -a '(__fish_complete_directories (commandline -ct))' -d 'where relative paths begin'
complete -c ue -n '__ue_at patch' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at patch 0' -F
complete -c ue -n '__ue_at wait' -l any -d 'until one of them has'
complete -c ue -n '__ue_at wait' -l all -d 'until all of them have (the default)'
complete -c ue -n '__ue_at wait' -l until -r -f -d 'wait for output that matches this pattern (PCRE2), unread output included'
complete -c ue -n '__ue_at wait' -s y -l yield -r -f -d 'wait at most this long: 250, 10s, 5m, inf'
complete -c ue -n '__ue_at wait' -l json -d 'print one JSON object when all is over'
complete -c ue -n '__ue_at wait' -l status-fd -r -f -d 'write the first command\'s own exit status, or its state, to this descriptor'
complete -c ue -n '__ue_at wait 0' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at wait 1' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at wait 2' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at wait rest 3' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at events' -l since -r -f -d 'begin with this event, not with the next one'
complete -c ue -n '__ue_at events' -l session -r -f -a '(__ue_ask sessions)' -d 'only events of this session'
complete -c ue -n '__ue_at events' -s t -l type -r -f -a '(__ue_ask events)' -d 'only events of this type, or all; may be repeated'
complete -c ue -n '__ue_at events' -s c -l count -r -f -d 'stop after so many'
complete -c ue -n '__ue_at events' -s y -l yield -r -f -d 'stop after this time: 0, 250, 10s, 5m (default inf)'
complete -c ue -n '__ue_at events' -l max-bytes -r -f -d 'most bytes of a command\'s whole output in its end (default 1048576; 0: none)'
complete -c ue -n '__ue_at logs' -s f -l follow -d 'go on with what it prints until it ends'
complete -c ue -n '__ue_at logs' -l since -r -f -d 'begin at this offset, or at what was printed from a time on: 10m (ago), 14:05, 2026-08-30T14:05'
complete -c ue -n '__ue_at logs' -l raw -d 'the output\'s bytes as they are'
complete -c ue -n '__ue_at logs' -l input -d 'the input log in place of the output'
complete -c ue -n '__ue_at logs' -l json -d 'one JSON object a line'
complete -c ue -n '__ue_at logs 0' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at watch' -l since -r -f -d 'with what was printed from this time on: 10m (ago), 14:05'
complete -c ue -n '__ue_at watch' -l json -d 'one JSON object a line'
complete -c ue -n '__ue_at watch 0' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at watch 1' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at watch 2' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at watch rest 3' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at steps' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at steps' -l reader -r -f -d 'read as this reader, which has a place of its own in the output'
complete -c ue -n '__ue_at steps 0' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at steps 1' -F
complete -c ue -n '__ue_at kill' -s s -l signal -r -f -a '(__ue_ask signals)' -d 'send only this signal'
complete -c ue -n '__ue_at kill' -l all -d 'every live session'
complete -c ue -n '__ue_at kill' -l self -d 'also the session that this command runs in'
complete -c ue -n '__ue_at kill' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at kill' -l args -r -f -d 'the tool\'s argument object in place of flags; - reads it from standard input'
complete -c ue -n '__ue_at kill 0' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at kill 1' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at kill 2' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at kill rest 3' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at list' -s a -l all -d 'ended sessions, too'
complete -c ue -n '__ue_at list' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at list' -l args -r -f -d 'the tool\'s argument object in place of flags; - reads it from standard input'
complete -c ue -n '__ue_at list 0' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at list 1' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at list 2' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at list rest 3' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at top' -s a -l all -d 'ended sessions, too'
complete -c ue -n '__ue_at record' -l stop -d 'end the recording; all of it is on disk then'
complete -c ue -n '__ue_at record' -l format -r -f -d 'version of asciicast (default 3)'
complete -c ue -n '__ue_at record' -l input -d 'what is typed, too'
complete -c ue -n '__ue_at record' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at record 0' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at record 1' -F
complete -c ue -n '__ue_at replay' -s x -l speed -r -f -d 'so many times as fast: 2, 0.5 (default 1)'
complete -c ue -n '__ue_at replay' -s i -l idle -r -f -d 'no pause longer than this (default: what the recording says)'
complete -c ue -n '__ue_at replay' -l raw -d 'all bytes as they were recorded'
complete -c ue -n '__ue_at replay 0' -F
complete -c ue -n '__ue_at rename' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at rename 0' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at resize' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at resize 0' -f -a '(__ue_ask sessions)'
complete -c ue -n '__ue_at resize 1' -f -a '24x80 40x120 50x160 60x200'
complete -c ue -n '__ue_at rm' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at rm 0' -f -a '(__ue_ask ended)'
complete -c ue -n '__ue_at rm 1' -f -a '(__ue_ask ended)'
complete -c ue -n '__ue_at rm 2' -f -a '(__ue_ask ended)'
complete -c ue -n '__ue_at rm rest 3' -f -a '(__ue_ask ended)'
complete -c ue -n '__ue_at call' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at call' -l status-fd -r -f -d 'write the command\'s own exit status, or its state, to this descriptor'
complete -c ue -n '__ue_at call' -l reader -r -f -d 'read as this reader, which has a place of its own in the output'
complete -c ue -n '__ue_at call 0' -f -a '(__ue_ask tools)'
complete -c ue -n '__ue_at tools' -l format -r -f -a '(__ue_ask formats)' -d 'openai (the default), openai-chat, anthropic or mcp'
complete -c ue -n '__ue_at tools' -l extended -d 'with muxd\'s additional arguments'
complete -c ue -n '__ue_at tools' -l json -d 'in one line'
complete -c ue -n '__ue_at mcp' -l reader -r -f -d 'read as this reader, which has a place of its own in the output'
complete -c ue -n '__ue_at status' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at reload' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at config' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at upgrade' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at stop' -l self -d 'also when this command runs in one of the sessions'
complete -c ue -n '__ue_at stop' -l json -d 'print one JSON object'
complete -c ue -n '__ue_at help 0' -f -a '(__ue_ask verbs)'
