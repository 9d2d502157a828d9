"""The text that a model reads, as the Codex tools write it."""
import re

import pytest

pytestmark = pytest.mark.no_pty
SENTENCE = "token one token two token three token four token five"


def text(mux, **arguments):
    return mux.call("exec_command", {"yield_time_ms": 30000, **arguments}).answer


@pytest.mark.smoke
def test_middle_truncation_with_its_header(mux):
    answer = text(mux, cmd=f"printf '{SENTENCE}'", max_output_tokens=4)
    assert answer["tokens"] == "14"
    assert answer["output"] == ("Warning: truncated output (original token count: 14)\nTotal output lines: 1\n\n"
                                "token on…10 tokens truncated…ken five")


def test_output_that_just_fits_is_untouched(mux):
    assert text(mux, cmd="printf 12345678", max_output_tokens=2)["output"] == "12345678"


def test_one_byte_too_many_is_truncated(mux):
    answer = text(mux, cmd="printf 123456789", max_output_tokens=2)
    assert answer["output"].endswith("\n\n1234…1 tokens truncated…6789") and answer["tokens"] == "3"


def test_budget_of_nothing_leaves_the_marker(mux):
    assert text(mux, cmd="printf abcdef", max_output_tokens=0)["output"].endswith("\n\n…2 tokens truncated…")


def test_truncation_keeps_characters_whole(mux):
    answer = text(mux, cmd="printf '😀😀😀😀😀😀😀😀😀😀\\nsecond line with text\\n'", max_output_tokens=8)
    assert answer["output"] == ("Warning: truncated output (original token count: 16)\nTotal output lines: 2\n\n"
                                "😀😀😀😀…8 tokens truncated… line with text\n")


def test_many_lines(mux):
    answer = text(mux, cmd="for i in $(seq -w 1 999); do printf 'EXEC-LINE-0%s xxxxxxxxxxxxxxxxxxxx\\n' $i; done", max_output_tokens=50)
    body = answer["output"]
    assert answer["tokens"] == "8991" and "Total output lines: 999\n\nEXEC-LINE-0001 " in body and "…8941 tokens truncated…" in body
    assert body.endswith("E-0997 xxxxxxxxxxxxxxxxxxxx\nEXEC-LINE-0998 xxxxxxxxxxxxxxxxxxxx\nEXEC-LINE-0999 xxxxxxxxxxxxxxxxxxxx\n")


def test_empty_output_keeps_the_newline(mux):
    result = mux.call("exec_command", {"cmd": "true"})
    assert result.out.endswith("Process exited with code 0\nOriginal token count: 0\nOutput:\n")


def test_running_without_output(mux):
    result = mux.call("exec_command", {"cmd": "sleep 300", "yield_time_ms": 250})
    assert re.fullmatch(r"Chunk ID: [0-9a-f]{6}\nWall time: \d+\.\d{4} seconds\nProcess running with session ID \d+\n"
                        r"Original token count: 0\nOutput:\n", result.out)


def test_three_megabytes(mux):
    answer = text(mux, cmd="head -c 3000000 /dev/zero | tr '\\0' x")
    assert answer["tokens"] == "750000"
    head, _, body = answer["output"].partition("\n\n")
    assert head.split("\n") == ["Warning: truncated output (original token count: 750000)", "... 1951424 bytes omitted ..."]
    assert re.fullmatch(r"x{20000}…\d+ tokens truncated…x{20000}", body)


def test_beginning_and_end_survive_a_flood(mux):
    answer = text(mux, cmd="echo FIRST; head -c 5000000 /dev/zero | tr '\\0' x; echo LAST")
    assert "\n\nFIRST\n" in answer["output"] and answer["output"].endswith("xLAST\n")


def test_full_budget_shows_the_omission_marker(mux):
    answer = text(mux, cmd="echo FIRST; head -c 2000000 /dev/zero | tr '\\0' x; echo LAST", max_output_tokens=262144)
    assert re.search(r"\.\.\. \d+ bytes omitted \.\.\.", answer["output"])


def test_valid_and_broken_utf8(mux):
    assert text(mux, cmd="printf '\\303\\251 \\377 ok'")["output"] == "é \ufffd ok"


def test_each_ill_formed_part_is_one_replacement(mux):
    assert text(mux, cmd="printf 'a\\360\\237\\230b\\300\\200c'")["output"] == "a\ufffdb\ufffd\ufffdc"


def test_escapes_pass_through(mux):
    assert text(mux, cmd="printf '\\033[31mred\\033[0m\\r\\n'")["output"] == "\x1b[31mred\x1b[0m\r\n"


def test_nul_bytes_survive_as_text(mux):
    assert mux.js("exec", "printf 'a\\000b'")["output"] == "a\0b"


def test_binary_garbage_is_survivable(mux):
    answer = mux.js("exec", "-y", "inf", "head -c 300000 /dev/urandom")
    assert answer["exit_code"] == 0 and answer["to"] == 300000
    assert mux.ue("exec", "--raw", "echo fine").ok().out == "fine\n"


def test_character_split_between_two_reads_is_whole(mux):
    mux.ue("exec", "-n", "split", "-t", "--until", "go", "-y", "120000",
           "stty -echo; printf 'go\\303'; read x; printf '\\251!'; read x").ok()
    first = mux.js("poll", "--since", "0", "split")["output"]
    assert "\ufffd" not in first
    second = mux.js("write", "--until", "!", "-y", "120000", "-l", "split", "")["output"]
    assert "é!" in second and "\ufffd" not in second
