#!/usr/bin/python3
"""make mutants: breaks the program in one place after the other, in a copy of the tree, and sees that the named test notices.

The table says of each mutant which file it is in, the text that is there, the text in its place and the test that must fail. Texts
and tests are found by what they are, not by where they stand: a file that moves takes its mutants with it. A mutant that survives, that
finds its text no more, that does not build or whose test fails without it makes the run fail: the table or a test has to be mended.
`mutants.py --find` only looks whether each row finds its text and its tests, which `make check-laws` asks."""
import argparse, ctypes, datetime, functools, multiprocessing, os, random, re, shutil, signal, subprocess, sys, time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PYTHON = os.environ.get("PYTHON") or "/usr/bin/python3"
TEST_S = 60      # a test that takes longer hangs
TEST_CAP_S = 5   # what the end-to-end tests wait for at most (conftest.py)
SLOW_S = 10      # a killer that takes longer is told: the drill has to be quick
LEFT_OUT = re.compile(r"^(\.git|build.*)$")
BUILD_LEFT_OUT = re.compile(r"^(mutants|unit.*|san|fuzz.*|valgrind|bench|npm|pytest-cache|.*-counts)$")  # other builds, what tests have fetched
UNIT_TEST = re.compile(r"^(?:static void (\w+)\(void \*\*state\)|TEST\((\w+)\))", re.M)
E2E_TEST = re.compile(r"^def (test_\w+)\(", re.M)


class Broken(Exception):
    """The row can't be used as it stands."""


@dataclass
class Mutant:
    file: str
    what: str
    old: str = ""
    new: str = ""
    tests: list = field(default_factory=list)
    line: int = 0

    @property
    def name(self):
        return f"{self.file}: {self.what}"


def read_table(path):
    """A row: FILE: what it breaks; lines of - and + with the text; `by` and the tests."""
    rows, row = [], None
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        sign, rest = text[:2], text[2:]
        if not text.strip() or text.startswith("#"):
            row = None
        elif row is None:
            name, _, what = text.partition(": ")
            row = Mutant(name, what, line=number)
            rows.append(row)
        elif sign in ("- ", "-"):
            row.old += ("\n" if row.old else "") + rest
        elif sign in ("+ ", "+"):
            row.new += ("\n" if row.new else "") + rest
        elif text.startswith("by "):
            row.tests += text[3:].replace(",", " ").split()
        else:
            sys.exit(f"{path}:{number}: neither '- ', '+ ' nor 'by '")
    for row in rows:
        if not row.what or not row.old or not row.tests:
            sys.exit(f"{path}:{row.line}: a mutant needs its file, what it breaks, the text and a test")
    return rows


# --- where things are
def sources(root):
    return sorted(p for room in ("muxd", "client") for p in (root / room).rglob("*") if p.suffix in (".c", ".h", ".def", ".py", ".mjs"))


def read_text(path):
    return path.read_text(encoding="utf-8")


read_once = functools.lru_cache(maxsize=None)(read_text)


def find_text(root, mutant, read=read_text):
    """The only place of the text: in a file of that name, or else anywhere. Blanks and line ends count as one."""
    pattern = re.compile(r"\s+".join(map(re.escape, mutant.old.split())))
    everywhere = sources(root)
    for among in [p for p in everywhere if p.name == mutant.file], everywhere:
        found = [(p, m) for p in among for m in pattern.finditer(read(p))]
        if len(found) == 1:
            return found[0][0], found[0][1].span()
        if found:
            raise Broken(f"its text stands {len(found)} times: {', '.join(sorted({str(p.relative_to(root)) for p, _ in found}))}")
    raise Broken("its text is nowhere")


def find_test(root, name, read=read_text):
    """(file, function) of a unit test or an end-to-end test. FILE:NAME tells those of the same name apart; else a file may have been
    renamed."""
    stem, _, function = name.rpartition(":")
    bare = function.partition("[")[0]
    found = []
    for pattern, folders, ending in (UNIT_TEST, ("unit",), "c"), (E2E_TEST, ("e2e", "crash"), "py"):
        for folder in folders:
            for path in sorted((root / "tests" / folder).glob(f"test_*.{ending}")):
                names = {n for match in pattern.finditer(read(path)) for n in match.groups() if n}
                if bare in names:
                    found.append(path)
    found = [path for path in found if path.stem == stem] or found
    if len(found) != 1:
        raise Broken(f"its test '{name}' is " + ("nowhere" if not found else f"in {', '.join(p.name for p in found)}: say FILE:{bare}"))
    return found[0], function


# --- running
def run(command, tree, timeout, log, **env):
    """The exit status, or None when it hung. Nothing that it started is left."""
    with open(log, "wb") as out:
        process = subprocess.Popen(command, cwd=tree, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                   env={**os.environ, **env}, start_new_session=True)
        for signo, patience in ((None, timeout), (signal.SIGINT, 20), (signal.SIGKILL, None)):
            if signo:
                os.killpg(process.pid, signo)
            try:
                status = process.wait(patience)
                break
            except subprocess.TimeoutExpired:
                pass
    end_orphans()
    return None if signo else status


def end_orphans():
    """What a test has left behind falls to us: stopped first, as keeper and worker start each other anew."""
    while True:
        left = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        if not left:
            return
        for signo in (signal.SIGSTOP, signal.SIGKILL):
            for pid in map(int, left):
                os.kill(pid, signo)
        for pid in map(int, left):
            os.waitpid(pid, 0)


def make(tree, targets, log):
    """Without what the make that runs us has told us."""
    clean = {key: "" for key in os.environ if key.startswith("MAKE") or key == "MFLAGS"}
    return run(["make", "-s", "BUILD=build", *targets], tree, 600, log, **clean) == 0


def targets_of(tests):
    units = [f"build/unit/{path.stem}" for path, _ in tests if path.suffix == ".c"]
    return units + (["all", "build/crash/fault.so", "build/crash/slow.so"] if any(path.suffix == ".py" for path, _ in tests) else [])


def passes(tree, path, function, log):
    """True, False, or Broken when nothing was tested."""
    if path.suffix == ".c":
        status = run([f"build/unit/{path.stem}"], tree, TEST_S, log, UNIT_TEST=function)
        if status == 0 and b"1 test(s) run" not in log.read_bytes():
            raise Broken(f"'{function}' of {path.name} is not run")
        return status == 0
    counts = log.with_suffix(".counts")
    counts.unlink(missing_ok=True)
    node = f"{path.relative_to(tree)}::{function}"
    status = run([PYTHON, "-m", "pytest", "-q", "-x", "--tb=short", "-p", "no:xdist", "-p", "no:cacheprovider", node], tree, TEST_S, log,
                 MUXD_BUILD=str(tree / "build"), MUXD_COUNTS=str(counts), MUXD_TEST_CAP=str(TEST_CAP_S))
    if status not in (0, 1, None) or (status == 0 and int(counts.read_text().split()[0]) == 0):
        raise Broken(f"'{node}' is not run")
    return status == 0


class Worker:
    """One process with a copy of the tree of its own."""
    tree = None

    @classmethod
    def begin(cls, trees):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        cls.tree = trees.get()

    @classmethod
    def baseline(cls, test):
        """None, or what is wrong with the test itself."""
        try:
            path, function = find_test(cls.tree, test)
            if not make(cls.tree, targets_of([(path, function)]), cls.log("make")):
                return f"it does not build:\n{cls.said('make')}"
            return None if passes(cls.tree, path, function, cls.log("test")) else f"it fails without any mutant:\n{cls.said('test')}"
        except Broken as why:
            return str(why)

    @classmethod
    def log(cls, name):
        return cls.tree.with_name(f"{cls.tree.name}-{name}.log")

    @classmethod
    def said(cls, name):
        return "".join(f"    {line}\n" for line in cls.log(name).read_text(errors="replace").splitlines()[-15:])

    @classmethod
    def kill(cls, mutant):
        """(verdict, seconds of the test, what to say)."""
        try:
            path, span = find_text(cls.tree, mutant)
            tests = [find_test(cls.tree, name) for name in mutant.tests]
        except Broken as why:
            return "lost", 0, str(why)
        before, mtime = path.read_text(encoding="utf-8"), path.stat().st_mtime_ns
        began = time.time()
        objects = {p: p.read_bytes() for p in (cls.tree / "build").rglob(f"{path.stem}.o")}
        path.write_text(before[:span[0]] + mutant.new + before[span[1]:], encoding="utf-8")
        try:
            return cls.try_tests(mutant, tests)
        except Broken as why:
            return "lost", 0, str(why)
        finally:
            cls.restore(path, before, mtime, objects, began)

    @classmethod
    def try_tests(cls, mutant, tests):
        if not make(cls.tree, targets_of(tests), cls.log("make")):
            return "unbuilt", 0, cls.said("make")
        for name, (path, function) in zip(mutant.tests, tests):
            began = time.monotonic()
            if not passes(cls.tree, path, function, cls.log("test")):
                return "killed", time.monotonic() - began, name
        return "survived", 0, " ".join(mutant.tests)

    @classmethod
    def restore(cls, path, text, mtime, objects, began):
        """The source as old as it was, and its object as it was but younger than all that was linked with the mutant's. Whatever else
        was compiled anew (a header's users) goes."""
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(mtime, mtime))
        for made in (cls.tree / "build").rglob("*.o"):
            if made in objects:
                made.write_bytes(objects[made])
            elif made.stat().st_mtime > began - 0.01:
                made.unlink()


# --- the whole
def copy_tree(build, to, units):
    """All sources, and what is built of them: times are kept, so that make finds nothing to do."""
    def ignore(folder, names):
        return [n for n in names if Path(folder) == ROOT and LEFT_OUT.match(n) or n == "__pycache__"]
    shutil.copytree(ROOT, to, ignore=ignore, symlinks=True)
    shutil.copytree(build, to / "build", ignore=lambda folder, names: [n for n in names if Path(folder) == build and BUILD_LEFT_OUT.match(n)],
                    symlinks=True)
    (to / "build/unit").mkdir()
    for unit in units:
        for path in (build / "unit").glob(f"{unit}*"):
            shutil.copy2(path, to / "build/unit")


def choose(mutants, wanted):
    """All; so many of the day's; or those in whose name the pattern is found."""
    if not wanted or wanted == "all":
        return mutants
    if wanted.isdigit():
        return random.Random(datetime.date.today().isoformat()).sample(mutants, min(int(wanted), len(mutants)))
    return [mutant for mutant in mutants if re.search(wanted, mutant.name)] or sys.exit(f"mutants: none has '{wanted}' in its name")


def begin_copies(build, chosen, jobs):
    place = build / "mutants"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    units = set()
    for mutant in chosen:
        for name in mutant.tests:
            try:
                units |= {path.stem for path, _ in [find_test(ROOT, name)] if path.suffix == ".c"}
            except Broken:
                pass  # told with its row
    trees = multiprocessing.Queue()
    for number in range(jobs):
        copy_tree(build, place / str(number), units)
        trees.put(place / str(number))
    return place, trees


def drill(chosen, pool):
    """Rows are told as they come; True when every mutant was killed."""
    bad, seconds = [], []
    tests = sorted({name for mutant in chosen for name in mutant.tests})
    wrong = {name: why for name, why in zip(tests, pool.map(Worker.baseline, tests)) if why}
    for name, why in wrong.items():
        print(f"test     '{name}': {why}", flush=True)
    for mutant, (verdict, took, why) in zip(chosen, pool.map(Worker.kill, chosen)):
        if verdict == "killed" and why in wrong:
            verdict, why = "lost", f"its test '{why}' fails without it"
        print(f"{verdict:8} {took:5.1f} s  {mutant.name}\n{'':19}{'by ' if verdict == 'killed' else ''}{why}"
              + ("   (slow)" if took > SLOW_S else ""), flush=True)
        seconds.append(took)
        if verdict != "killed":
            bad.append((verdict, mutant))
    print(f"\n{len(chosen)} mutants: {len(chosen) - len(bad)} killed, the slowest in {max(seconds):.1f} s")
    for verdict, mutant in bad:
        print(f"    {verdict}: {mutant.name} (tests/mutants/table:{mutant.line})")
    return not bad and not wrong


def find_all(rows):
    """Prints each row whose text or test is nowhere, or in several places; True when there is none."""
    lost = 0
    for row in rows:
        looks = [lambda: find_text(ROOT, row, read_once), *(lambda name=name: find_test(ROOT, name, read_once) for name in row.tests)]
        for look in looks:
            try:
                look()
            except Broken as why:
                print(f"tests/mutants/table:{row.line}: {row.name}: {why}")
                lost += 1
    print(f"mutants: {len(rows)} rows, {lost} lost")
    return not lost


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--find", action="store_true", help="only see whether each row finds its text and its tests")
    parser.add_argument("build", type=Path, nargs="?", default=ROOT / "build", help="the build directory, with all that was built")
    parser.add_argument("which", nargs="?", default="", help="all; a number of the day's; or a pattern for the mutants' names")
    options = parser.parse_args()
    if options.find:
        return 0 if find_all(read_table(HERE / "table")) else 1
    began, jobs = time.monotonic(), max(1, min(int(os.environ.get("MUTANT_JOBS") or os.cpu_count()), 8))
    chosen = choose(read_table(HERE / "table"), options.which)
    place, trees = begin_copies(options.build.resolve(), chosen, jobs)
    with ProcessPoolExecutor(jobs, initializer=Worker.begin, initargs=(trees,)) as pool:
        good = drill(chosen, pool)
    shutil.rmtree(place, ignore_errors=True)
    print(f"took {time.monotonic() - began:.0f} s")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
