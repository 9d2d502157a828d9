"""muxd(7) as a checker: what the page says that answers and events have in them is all that the daemon may say, in these types."""
import functools, re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "conf/muxd.7"
MEMBER = re.compile(r"\\fB(\w+)\\fR \((.*)\)$")
VERBS = {"exec": "call", "write": "typed", "poll": "typed", "list": "sessions", "kill": "killed", "status": "status", "screen": "screen", "steps": "steps",
         "patch": "patch", "rename": "session", "resize": "session", "record": "recorded", "reload": "reloaded"}  # of those, --json is the answer


class Page:
    def __init__(self):
        self.shapes, self.answers, self.events = {}, {}, {}  # members by name; shapes by method; members by type
        self.seen = set()  # shape or type, and member
        section = name = members = None
        lines = iter(PAGE.read_text().split("\n"))
        for line in lines:
            if line.startswith(".SH "):
                section = line[4:]
            elif line.startswith(".SS "):
                name = line[4:].split()[0]
                members = {}
                if section in ("ANSWERS", "EVENTS"):
                    (self.shapes if section == "ANSWERS" else self.events)[name] = members
            elif section == "METHODS" and line == "Answers with":
                said = next(lines)
                self.answers[name] = [said.split()[1]]
                if said.startswith(".I "):  # or another
                    assert next(lines) == "or"
                    self.answers[name].append(next(lines).split()[1])
            elif section in ("ANSWERS", "EVENTS") and line == "all of":
                members["*"] = next(lines)[3:-3]
            elif section in ("ANSWERS", "EVENTS") and (match := MEMBER.match(line)):
                members[match[1]] = [alternative.replace(r"\fI", "").replace(r"\fR", "") for alternative in match[2].split(" or ")]
        assert len(self.shapes) > 40 and len(self.answers) > 30 and len(self.events) > 15, "the page has changed its form"

    def members(self, members):
        return {**self.members(self.shapes[members["*"]]), **members} if "*" in members else members

    def fits(self, value, kind, where):
        """Whether it is of that kind; what is inside of it is checked."""
        of = kind.split()[-1] if kind.startswith(("object ", "array of objects ", "object by name ")) and kind.split()[-1] in self.shapes else None
        if kind in ("string", "boolean", "null"):
            return isinstance(value, {"string": str, "boolean": bool, "null": type(None)}[kind])
        if kind in ("integer", "number"):
            return isinstance(value, int if kind == "integer" else (int, float)) and not isinstance(value, bool)
        if kind.startswith("array of"):
            fits = {"array of strings": lambda item: item is None or isinstance(item, str), "array of integers": lambda item: isinstance(item, int),
                    "array of arrays": lambda item: isinstance(item, list)}.get(kind, lambda item: self.check(item, of, f"{where}[]"))
            return isinstance(value, list) and all(map(fits, value))
        if kind.startswith("object by name"):
            return isinstance(value, dict) and all(self.check(item, of, where) if of else isinstance(item, (str, type(None))) for item in value.values())
        return isinstance(value, dict) and self.check(value, of, where)

    def check(self, value, shape, where):
        assert isinstance(value, dict), f"{where}: no object: {value!r}"
        known = self.members(self.shapes[shape])
        if shape == "event":
            shape = f"event {value['type']}"
            known = {**known, **self.members(self.events[value["type"]])}
        for name, item in value.items():
            assert name in known, f"{where}: muxd(7) has no '{name}'; add it to answers.def: {str(value)[:500]}"
            assert any(self.fits(item, kind, f"{where}.{name}") for kind in known[name]), f"{where}.{name}: not {' or '.join(known[name])}: {str(item)[:300]!r}"
            self.seen.add((shape, name))
        return True

    def unseen(self):
        """(shape, member) of what no answer has had so far, each member where it is told first."""
        return {(shape, name) for shape, members in self.shapes.items() for name in members if name != "*" and (shape, name) not in self.seen}


page = functools.cache(Page)


def check_answer(method, result):
    names = page().answers.get(method)
    if names:  # of no session: the second one, where there is one
        page().check(result, names[-1] if "number" not in result else names[0], method)


def check_failure(error):
    page().check(error.get("data") or {}, "failure", "error")


def check_notice(message):
    if message.get("method") == "approval":
        page().check(message["params"], "notice", "approval")


def check_verb(verb, result):
    if verb in VERBS and isinstance(result, dict):
        page().check(result, VERBS[verb], f"ue {verb}")
