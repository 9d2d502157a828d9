#!/bin/sh
# floors.sh: a file includes its own folder and lower floors only. Run from the project's root; prints each #include that climbs.
set -eu
find muxd client -name '*.c' -o -name '*.h' -o -name '*.def' | sort | xargs awk '
BEGIN {
    floor["base"] = 0; floor["wire"] = 1
    floor["config"] = floor["confine"] = floor["sys"] = floor["keep"] = floor["journal"] = floor["term"] = floor["patch"] = 2
    floor["session"] = floor["peer"] = 3
    floor["parts"] = floor["guard"] = 4
    floor["cmd"] = 5; floor["server"] = 6
    inside["print"] = inside["terminal"] = inside["script"] = 0; inside["rpc"] = 1 # the rooms of client/
    inside["attach"] = inside["follow"] = inside["mcp"] = inside["play"] = inside["lib"] = 2; inside["verbs"] = 3
}
function climbs_inside() {
    sub(/^[^\/]*\//, "", other)
    if (other !~ /\//) { refuse("name the room, as in \"client/rpc/call.h\""); return }
    sub(/\/.*/, "", other)
    if (depth == 2 || other == part[2]) return
    if (!(other in inside) || !(part[2] in inside)) refuse("no such room in client/")
    else if (inside[other] > inside[part[2]]) refuse("climbs from " part[2] " to " other)
    else if (inside[other] == inside[part[2]]) refuse("another room on its own floor of client/")
}
function refuse(why) { printf "%s:%d: \"%s\": %s\n", FILENAME, FNR, target, why; bad = 1 }
FNR == 1 {
    depth = split(FILENAME, part, "/")
    room = part[1] == "client" ? "client" : depth == 2 ? "main" : part[2]
    own = room == "parts" ? part[3] : "" # each of its folders is a room
    if (room != "client" && room != "main" && !(room in floor)) { target = room; refuse("no such room in the house") }
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    target = $0; sub(/^[^"]*"/, "", target); sub(/".*/, "", target)
    includes++
    if (target !~ /\//) { refuse("name the folder, as in \"base/buf.h\""); next }
    other = target; sub(/\/.*/, "", other)
    if (other == "client" && room == "client") { other = target; climbs_inside(); next }
    split(target, into, "/")
    if (room == "parts" && other == "parts" && into[2] != own) { refuse("one part knows nothing of another; server/parts.c joins them"); next }
    if (other == room || room == "main") next
    if (other == "client") { refuse("the daemon knows nothing of its client"); next }
    if (!(other in floor)) { refuse("no such room in the house"); next }
    if (room == "client") { if (floor[other] > 1) refuse("ue may use base and wire only"); next }
    if (room == "keep" && other != "base") { refuse("keeper and link may use base only"); next }
    if (room == "confine" && other != "base") { refuse("sandboxes may use base only"); next }
    if (room == "journal" && other != "base") { refuse("what outlives the worker may use base only"); next }
    if (floor[other] > floor[room]) refuse("climbs from floor " floor[room] " to floor " floor[other])
    else if (floor[other] == floor[room]) refuse("another folder on its own floor " floor[room])
}
END {
    if (!includes) { print "floors: no #include seen; run it from the project'\''s root"; exit 1 }
    printf "floors: %d includes, %s\n", includes, bad ? "some climb" : "none climbs"
    exit bad
}'
