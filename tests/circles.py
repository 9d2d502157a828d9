#!/usr/bin/python3
"""circles.py BUILD: the circles of files that call each other, read from the object files. The largest has fewer than LIMIT files, so
that no room becomes a knot again: what closes a longer one belongs in a file of its own, which both sides call."""
import subprocess, sys
from pathlib import Path

LIMIT = 15


def symbols(objects):
    """{object: (functions it defines for others, symbols it uses)}"""
    found, current = {}, None
    out = subprocess.run(["nm", "-P", *map(str, objects)], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        if line.endswith(":") and line[:-1] in objects:
            current = found.setdefault(line[:-1], (set(), set()))
        else:
            name, kind = line.split()[:2]
            if kind in "TU":
                current[kind == "U"].add(name)
    return found


def circles(calls):
    """Tarjan's strongly connected components of more than one file, the largest first."""
    number, low, stack, found = {}, {}, [], []

    def visit(file):
        number[file] = low[file] = len(number)
        stack.append(file)
        for other in calls[file]:
            if other not in number:
                visit(other)
            if other in stack:
                low[file] = min(low[file], low[other])
        if low[file] == number[file]:
            at = stack.index(file)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for file in calls:
        if file not in number:
            visit(file)
    return sorted(found, key=len, reverse=True)


def main():
    sys.setrecursionlimit(10000)
    folder = Path(sys.argv[1]) / "obj"
    objects = [str(path) for path in sorted(folder.rglob("*.o")) if path.relative_to(folder).parts[0] in ("muxd", "client")]
    if not objects:
        sys.exit(f"circles: no object files below '{folder}'; run make")
    found = symbols(objects)
    owner = {name: file for file, (defined, _) in found.items() for name in defined}
    calls = {file: {owner[name] for name in used if name in owner} - {file} for file, (_, used) in found.items()}
    largest = circles(calls)
    short = [", ".join(str(Path(file).relative_to(folder).with_suffix("")) for file in circle) for circle in largest[:1]]
    print(f"circles: {len(largest)} circles of files that call each other; the largest has {len(largest[0]) if largest else 0}: {''.join(short)}")
    return bool(largest) and len(largest[0]) >= LIMIT


if __name__ == "__main__":
    sys.exit(main())
