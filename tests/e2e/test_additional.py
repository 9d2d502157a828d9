"""additional_permissions: what one command gets besides its policy's sandbox after a person's yes, and nothing more; and [policy] hidden: what
no command of that policy can read."""
import json, socket, threading

import pytest
from conftest import wait_for
from test_approvals import asks, refusal, waiting, yes
from test_policy_sandbox import Place

POLICIES = """
[policy mcp]
approval = on-request
sandbox = workspace-write
temp = no
hidden = ~/keys **/.env "sub/two words"
[policy ro]
approval = granular
sandbox = read-only
[policy mute]
approval = granular
sandbox_approval = no
sandbox = read-only
[policy never]
approval = never
sandbox = read-only
[policy hush]
approval = never
sandbox = workspace-write
hidden = **/.env
[policy other]
sandbox = workspace-write
temp = no
[policy free]
approval = on-request
[rule cat]
prefix = cat
"""
pytestmark = pytest.mark.no_pty


@pytest.fixture
def place(mux):
    place = Place(mux, POLICIES)
    (mux.home / "keys").mkdir()
    (mux.home / "keys" / "id").write_text("secret\n")
    (place.dir / ".git").mkdir()
    for name in (".env", "sub/.env", "sub/two words", "sub/open"):
        (place.dir / name).write_text("secret\n")
    return place


def ask(place, cmd, wanted, profile=None, **more):
    meta = {"cwd": str(place.dir), **({"profile": profile} if profile else {})}
    return asks(place.mux, cmd, meta=meta, login=False, yield_time_ms=30000, sandbox_permissions="with_additional_permissions",
                additional_permissions=wanted, justification="may I?", **more)


def approved(place, cmd, wanted, profile=None):
    """The answer after a yes, and what the person was shown."""
    rpc = ask(place, cmd, wanted, profile)
    approval, = waiting(place.mux)
    yes(place.mux, approval).ok()
    return rpc.result(rpc.id), approval


def output(place, cmd, **more):
    return place.call("exec_command", cmd=cmd, login=False, yield_time_ms=30000, **more)["output"]


def test_the_network_without_a_sandbox_of_its_own_is_not_promised(place):
    error = place.refused("exec_command", cmd="true", network=True)
    assert "leave it out" in str(error) and "says how to ask" in str(error) and "the network is there" not in str(error), error


def test_the_network_for_one_command(place):
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=lambda: server.accept()[0].close(), daemon=True).start()
        reach = ["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]} && echo reached; touch {place.out}/x; exit 0"]
        assert "reached" not in output(place, reach)
        answer, approval = approved(place, reach, {"network": {"enabled": True}})
    assert answer["output"].startswith("reached\n") and place.written() == set(), answer
    assert ", network" in approval["sandbox"] and approval["sandbox"].startswith("workspace-write of ") and "always" not in approval, approval
    assert approval["reason"] == "may I?" and approval["permissions"] == "with_additional_permissions"
    assert "reached" not in output(place, reach)


@pytest.mark.parametrize("profile, also", [(None, {"work", "sub"}), ("ro", set())])
def test_a_directory_for_one_command(place, profile, also):
    assert output(place, place.script, **({"profile": profile} if profile else {})) == "" and place.written() == also
    answer, approval = approved(place, place.script, {"file_system": {"write": [str(place.out)]}}, profile)
    assert answer["exit_code"] == 0 and place.written() == also | {"out"}, answer
    assert str(place.out) in approval["sandbox"]
    approved(place, "touch .git/x x; exit 0", {"file_system": {"write": [".git"]}}, profile)
    assert (place.dir / ".git/x").exists() and place.written() == also & {"work"}


def test_hidden_files(place):
    mux, names = place.mux, ("~/keys/id", ".env", "sub/.env", "'sub/two words'")
    for cmd in [f"head {name}" for name in names] + [f"cat {mux.home}/keys/id", "cat .env"]:  # a rule lets cat out of no sandbox here
        assert "secret" not in output(place, cmd), cmd
    assert output(place, "cat sub/open") == "secret\n" == output(place, "cat sub/open", sandbox="read-only")
    assert "secret" not in output(place, "cat .env", sandbox="read-only")
    update = "*** Begin Patch\n*** Update File: .env\n@@\n-secret\n+known\n*** End Patch"
    assert "writing outside of the project" in place.refused("apply_patch", profile="hush", input=update).message
    answer, approval = approved(place, f"head {mux.home}/keys/id; head .env", {"file_system": {"read": [str(mux.home / 'keys')]}})
    assert answer["output"].count("secret") == 1 and "but readable" in approval["sandbox"], answer
    error = refusal(ask(place, "true", {"file_system": {"read": [str(mux.home / "keys/id")]}}))
    assert "is hidden as a whole" in error.message, error
    # an agent types into no session that can read more than it can
    place.call("exec_command", profile="other", cmd="head", login=False, tty=True, name="other")
    ask(place, "cat", {"file_system": {"read": [str(mux.home / 'keys')]}}, tty=True, name="shown")
    yes(mux, waiting(mux)[0]).ok()
    wait_for(lambda: mux.listed("shown"), "the session")
    for name in ("other", "shown"):
        assert "it can read what is hidden" in place.refused("write_stdin", session_id=name, chars="x").message, name
    place.call("exec_command", cmd="cat", login=False, tty=True, name="own")
    assert place.call("write_stdin", session_id="own", chars="x")["state"] == "running"
    for runtime in (mux.dir / "s", mux.state / "muxd"):  # muxd's own are never shown
        assert "is hidden as a whole" in refusal(ask(place, "true", {"file_system": {"read": [str(runtime)]}})).message


def test_an_answer_says_what_to_ask_for(place):
    """What it names is what lets the command run."""
    for cmd, wanted in [(f"touch {place.out}/x", {"file_system": {"write": [str(place.out)]}}), (["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9"], {"network": {"enabled": True}})]:
        answer = place.call("exec_command", cmd=cmd, login=False, yield_time_ms=30000)
        assert f"additional_permissions {json.dumps(wanted)} and a justification" in answer["content"] and "require_escalated" in answer["content"], answer
        assert answer["_meta"]["denial"]["can_ask"]
    approved(place, f"touch {place.out}/x", {"file_system": {"write": [str(place.out)]}})
    assert place.written() == {"out"}
    assert "with_additional_permissions" not in place.call("exec_command", profile="never", cmd=f"touch {place.out}/x; false", login=False, yield_time_ms=30000)["content"]


def test_what_is_refused(place):
    network = {"network": {"enabled": True}}
    for wanted, words in [({}, "must include at least one requested permission"), ({"network": {"enabled": False}}, "must include at least one"),
                          ({"net": {}}, "unknown field `net`"), ({"network": True}, "`additional_permissions.network`: expected an object"),
                          ({"file_system": {"write": "x"}}, "`additional_permissions.file_system.write`: expected"),
                          ({"file_system": {"write": [str(place.dir / ".env")]}}, "can't be a writable root"),
                          ({"file_system": {"write": ["/"]}}, "can't be a writable root")]:
        assert words in refusal(ask(place, "touch x", wanted)).message, wanted
    for profile, words in [("never", "approval policy is Never; reject command \u2014 you cannot request additional permissions unless the approval policy is OnRequest"),
                           ("mute", "you cannot request additional permissions"), ("free", "additional permissions are disabled")]:
        assert words in refusal(ask(place, "touch x", network, profile)).message, profile
    more = {"cmd": "touch x", "login": False}
    assert "missing `additional_permissions`" in place.refused("exec_command", sandbox_permissions="with_additional_permissions", **more).message
    assert "requires `sandbox_permissions` set to" in place.refused("exec_command", additional_permissions=network, **more).message
    assert place.written() == set() and not place.mux.ue("approvals", "--json").json["approvals"]


def test_schemas_show_it_where_it_can_be_used(place):
    for profile, choices in [(None, ["use_default", "require_escalated", "with_additional_permissions"]), ("ro", ["use_default", "with_additional_permissions"]),
                             ("free", ["use_default", "require_escalated"]), ("mute", ["use_default"]), ("never", None)]:
        told = place.mux.ue("tools", *(["--profile", profile] if profile else [])).ok().json
        exec_command = next(tool for tool in told if tool["name"] == "exec_command")["parameters"]["properties"]
        assert exec_command.get("sandbox_permissions", {}).get("enum") == choices, (profile, exec_command)
        assert ("additional_permissions" in exec_command) == bool(choices and "with_additional_permissions" in choices), profile
