"""Shell scripts by chance: commands of plain words, joined as people join them, into which every construct of the shell is mixed, whole and
broken. The same seed makes the same scripts."""
import random

NAMES = ["git", "ls", "make", "echo", "./run", "/bin/rm", "cat", "grep", "a.out", "x", "test", "[", "time-it", "if-up", "python3", "7z", "1", "sudo", "env", "ifx", "do1"]
WORDS = ["a", "b.c", "-l", "--long=value", "status", "x=y", "12", "0", "1.5", "@", "%", "a:b", "a,b", "+x", "-", "--", "é", "日本", "a@b", "/usr/bin", "..", "if", "then",
         "done", "in", "}", "]", "a]", "!", "=", "a=", "=a", "+", "^", "a^b", "-1", "a-1", "x/y.z", "for", "time", "a#b", "%s", "a%b", "s/a/b/", "function", "0x1f", "1a", "=="]
QUOTED = ["'a b'", '"a b"', "''", '""', "'a;b'", '"a && b"', "'$x'", "'`x`'", "'a\nb'", '"a\nb"', '"a\\"b"', '"\\$x"', '"\\\\"', '"a\\b"', "'\\'", '"it\'s"', "'say \"x\"'", "'#'", '"#a"',
          "'<<E'", '"*"', "'*'", "'~'", '"|"', '"é"', "'('", '"("', '" "', '" a"', '"a "', "'-'", '"%s\\n"', '"a!b"', '"\\`x\\`"', '"  "', '"\t"']
JOINED = ["a'b'", 'a"b"', "'a'\"b\"", "a'b'c", "--x='y z'", '--x="y"', "a''b", '""a', "'a''b'", "x='1'", "/a/'b'/c", "-m'x'", "a=\"b\"c"]
MORE = ["$x", "${x}", '"$x"', '"${x:-y}"', "$(ls)", "`ls`", '"$(ls)"', '"a `ls` b"', "$((1+2))", "$'a\\nb'", '$"a"', "*", "a*", "?", "[ab]", "{a,b}", "{1..3}", "~", "~/x", "~root", "a\\ b",
        "\\a", "<(ls)", ">(cat)", "$$", "$?", "$1", "$@", "\"$@\"", "$", "a$", "a$b", "x$(", "!!", "!$", "a\\", "$IFS", "a${IFS}b", "${x}y", '"$', "${!x}", "@(a|b)", "a+(b)", "!(a)"]
BROKEN = ["'", '"', "'a", '"a', "a'b", "`", "$(", "${", "(", ")", "{", "}", "((", "))", "[[", "]]", "&", "|&", ";;", ";&", ";;&", "&&&", "|||", "<", ">", "<<", "<<<", "\\"]
REDIRECTED = ["> f", ">> f", "< f", "2>&1", "2> /dev/null", "&> f", ">| f", "<> f", "<&-", "<<< word", "<<< 'a b'", "3< f", ">f", "{x}> f", "1>a", ">&2"]
BEFORE = ["x=1", "x=", "X=a Y=b", "x[0]=1", "x+=1", "! ", "time", "exec", "command", "coproc", "x=$(ls)", "x='a b'", "-", "eval", "then", "do", "{", "in", "export a=b;", "noglob"]
COMPOUND = ["if a; then b; fi", "while a; do b; done", "until a; do b; done", "for x in a b; do c; done", "for x; do c; done", "case x in a) b;; esac", "(a)", "{ a; }", "((1+2))", "[[ a == b ]]",
            "f() { a; }", "function f { a; }", "function f() { a; }", "select x in a; do b; done", "for ((;;)); do a; done", "[ a = b ]", "test a", "! a", "time a", "coproc a", "f () a", "(a; b) | c",
            "{ a; } > f", "alias a=b", "declare x=1", "local x", "export x=1", "readonly x", "unset x", "typeset a", "unset -f x", "a=(b c)", "let x=1", "export x", "declare -f"]
JOINS = ["&&", "||", ";", "|", "\n", " && ", " || ", " ; ", "; ", " | ", "\n\n", " &&\n", " |\n", " ||\n\n", " \n ", "; \n", ";\n"]
ODD_JOINS = [" & ", "&", " |& ", ";;", " ; ; ", "&& &&", "| |", "\\\n", " \\\n ", " # c\n", "#c\n", "\r\n", "\v", "\f", "\u00a0", "\u2003", "&&#c\n", "\n&& ", "\n| ", "\n;", "; && ", "\t"]
BODIES = ["a\n", "", "a $x\n", "$(ls)\n", "`ls`\n", "a\nb\n", "E x\n", " E\n", "\tE\n", "'\n", '"\n', "a \\$x\n", "\\\n", "EE\n", "<<F\n", "a # b\n", "${x}\n", "$\n", "\\`x\\`\n"]

RARE = ["if'b' a", "a; if]b", "'a'\u2003b", "a \"b\"\u00a0", "!a b", "!'a' b", "<<'E' a\nb\nE", "<<E a b\nE\n", "a <<''\nb\n\n", 'a <<""\n\n', "<<E\nE", "a <<\nE\n\n", "a b <<''\n\n", "x; !a", "[ a", "a <<E <<F\nE\nF\n", "time", "!"]


class Scripts:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def one(self, *lists):
        return self.random.choice(self.random.choice(lists))

    def word(self, odd):
        if self.chance(odd):
            return self.one(MORE, MORE, REDIRECTED, BROKEN)
        return self.one(WORDS, WORDS, QUOTED, JOINED)

    def command(self, odd):
        if self.chance(odd // 2):
            return self.one(COMPOUND)
        words = [self.one(NAMES, NAMES, NAMES, WORDS, QUOTED, JOINED) if self.chance(10) else self.one(NAMES)]
        if self.chance(odd):
            words.insert(0, self.one(BEFORE))
        words += [self.word(odd) for _ in range(self.random.randrange(4))]
        return (" " if not self.chance(10) else self.random.choice(["  ", "\t", " \t "])).join(words)

    def heredoc(self, odd):
        start = self.random.choice(["<<E", "<<'E'", '<<"E"', "<< E", "<<-E", "<<\\E", "<<-'E'", "<<E'E'", "3<<E"]) if self.chance(odd * 4) else self.random.choice(["<<E", "<<'E'"])
        head = f"{self.command(odd)} {start}{self.random.choice(['', '', ' a', ' | b', ' && b', ' > f', '; b', '; ', ' <<F', ' x y', ' #c'])}"
        end = "E" if not self.chance(odd) else self.random.choice(["E ", " E", "\tE", "", "EE", "F", "E\nF"])
        return f"{head}\n{self.random.choice(BODIES)}{end}{self.random.choice(['', chr(10), chr(10) + 'b', chr(10) + chr(10)])}"

    def broken(self, script):
        """One change at one place."""
        at = self.random.randrange(len(script) + 1)
        how = self.random.randrange(4)
        if how == 0:
            return script[:at] + script[at + 1:]
        if how == 1:
            return script[:at] + self.one(BROKEN, ODD_JOINS, MORE) + script[at:]
        if how == 2:
            return script[:at] + self.random.choice("\\'\"`$#(){}[]<>|&;!*?~=\n\t \r") + script[at:]
        return script[:at] + script[at:][::-1]

    def script(self):
        odd = self.random.choice([0, 0, 4, 15, 40])
        if self.chance(1):
            script = self.one(RARE)
        elif self.chance(12):
            script = self.heredoc(odd)
        else:
            script = self.command(odd)
            for _ in range(self.random.choice([0, 0, 1, 1, 2, 3])):
                script += self.one(ODD_JOINS) if self.chance(odd // 2) else self.one(JOINS)
                script += self.command(odd)
        if self.chance(20):
            script = self.random.choice([" ", "\n", "\t", "# c\n", ""]) + script + self.random.choice(["", ";", "\n", " ", " # c", ";;", "&", " &&", "\\", ";\n"])
        if self.chance(15):
            script = self.broken(script)
        return script


def scripts(seed, count):
    """That many different ones."""
    made, seen = Scripts(seed), {}
    while len(seen) < count:
        seen.setdefault(made.script())
    return list(seen)
