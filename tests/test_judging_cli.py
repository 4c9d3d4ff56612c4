"""The commands check, admit and refused: order, JSON, several files at once, bad input, and how they stop."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from designs import HONEST, flawed
from processes import children, eventually, lives, workers

from spade_envs.admission import GateResult, Report, Settings, many
from spade_envs.admission import judge as real_judge
from spade_envs.cli.reading import read_design
from spade_envs.contract import Finding, code_sha256
from spade_envs.errors import IsolationError
from spade_envs.registry import Registry

Run = Callable[..., tuple[int, str, str]]
QUICK = Settings(reset_seeds=20, expert_seeds=10, replayed_seeds=2)
BAD_HEADER = HONEST.replace('domain = "games"', 'domain = "fun"')


@pytest.fixture
def run(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command; designs are judged with few episodes."""
    monkeypatch.setattr(many, "judge", lambda source, **how: real_judge(source, **{**how, "settings": QUICK}))
    return run


def documents(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def judged(monkeypatch: pytest.MonkeyPatch, *findings: Finding) -> None:
    """Let every design be judged at once, with these findings."""

    def judge(source: str, **_: Any) -> Report:
        passed = all(finding.severity == "warn" for finding in findings)
        gates = (GateResult("made up", passed, {}, findings),)
        return Report("spade/LampHunt-v0", code_sha256(source), gates, 0.0)

    monkeypatch.setattr(many, "judge", judge)


def test_check_says_line_fault_and_mend(run: Run) -> None:
    Path("broken.py").write_text(BAD_HEADER)
    code, out, _ = run("check", "broken.py")
    assert code == 1
    assert "broken.py:5" in out
    assert '"games"' in out


def test_admit_publishes_and_keeps_the_refused(run: Run, tmp_path: Path) -> None:
    Path("good.py").write_text(HONEST.replace("LampHunt", "LampHuntShell"))
    Path("bad.py").write_text(flawed("runs.raised"))
    code, out, _ = run("admit", "good.py", "bad.py", "--registry", "shelf", "--jobs", 1)
    assert code == 1
    assert "as spade/LampHuntShell-v0" in out
    assert "score 0." in out
    assert "[runs.raised]" in out
    assert "1 of 2 admitted" in out
    assert [str(i) for i in Registry(tmp_path / "shelf").ids()] == ["spade/LampHuntShell-v0"]
    code, out, _ = run("admit", "good.py", "--registry", "shelf", "--json")
    (again,) = documents(out)
    assert code == 1
    assert again["gates"][0]["saw"] == {"equals": "spade/LampHuntShell-v0"}
    assert again["registered_as"] is None

    _, table, _ = run("refused", "--registry", "shelf")
    assert "1 of 1 refused designs" in table
    assert "[runs.raised]" in table
    (kept,) = json.loads(run("refused", "--registry", "shelf", "--json")[1])
    assert (kept["id"], kept["times"]) == ("spade/LampHunt-v0", 1)
    assert json.loads(run("refused", "--json")[1]) == []


def test_check_says_what_admit_would_say_of_code_that_is_there(run: Run, tmp_path: Path) -> None:
    """Another title is no other code."""
    Registry(tmp_path / "shelf").add(HONEST, {})
    Path("again.py").write_text(HONEST.replace("Lamp hunt", "Hunt of lamps"))
    code, out, _ = run("check", "again.py", "--registry", "shelf")
    assert code == 1
    assert "its code equals spade/LampHunt-v0, which stands in" in out
    assert run("admit", "again.py", "--registry", "shelf")[:2] == (1, out)

    (checked,) = documents(run("check", "again.py", "--registry", "shelf", "--json")[1])
    (refused,) = documents(run("admit", "again.py", "--registry", "shelf", "--json")[1])
    assert checked == refused
    assert checked["admitted"] is False
    assert checked["gates"][0]["saw"] == {"equals": "spade/LampHunt-v0"}

    (judged,) = documents(run("check", "again.py", "--registry", "shelf", "--json", "--all")[1])
    assert judged["gates"][0]["name"] == "form"
    assert judged["gates"][-1] == checked["gates"][0]
    assert judged["admitted"] is False


def test_show_has_the_scores(run: Run, tmp_path: Path) -> None:
    report = {"gates": [], "scores": {"difficulty": 0.75, "total": 0.9}}
    pool = {"active_pool": {"enters": False, "reasons": ["too easy: it won"]}}
    Registry(tmp_path / "user").add(HONEST.replace("LampHunt", "LampHuntScored"), {**report, **pool})
    _, out, _ = run("show", "spade/LampHuntScored-v0")
    assert "difficulty: 0.75" in out
    assert "stays out: too easy: it won" in out


def test_several_files_are_judged_at_once_and_told_in_their_order(run: Run) -> None:
    sources = {
        "slow.py": flawed("solvable.expert"),
        "a.py": BAD_HEADER,
        "empty.py": "",
        "b.py": "print(1)\n",
    }
    for name, source in sources.items():
        Path(name).write_text(source)
    code, out, err = run("check", *sources, "--jobs", 3, "--json")
    assert code == 1
    assert err == ""
    assert [document["path"] for document in documents(out)] == list(sources)
    rules = [document["gates"][-1]["findings"][0]["rule"] for document in documents(out)]
    assert rules == ["solvable.expert", "header.domain", "form.empty", "header.missing"]


def test_findings_say_how_grave_they_are(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    judged(monkeypatch, Finding("expert.peeks", "it peeks", "Look first.", severity="warn"))
    monkeypatch.setenv("FORCE_COLOR", "1")
    Path("good.py").write_text(HONEST)
    code, out, _ = run("check", "good.py")
    assert code == 0
    assert "\x1b[33mgood.py: warning: it peeks" in out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in run("check", "good.py")[1]
    (document,) = documents(run("check", "good.py", "--json")[1])
    assert document["gates"][0]["findings"][0]["severity"] == "warn"
    assert document["admitted"] is True


def test_all_gates_are_asked_where_that_is_wanted(run: Run) -> None:
    Path("bad.py").write_text(flawed("runs.timeout").replace('return "Halve what is left."', 'return " "'))
    assert "[hint.empty]" not in run("check", "bad.py")[1]
    code, out, _ = run("check", "bad.py", "--all")
    assert code == 1
    assert "[runs.timeout]" in out
    assert "[hint.empty]" in out


@pytest.mark.parametrize(
    ("name", "data", "code", "says"),
    [
        ("empty.py", b"", 1, "empty"),
        ("blank.py", b" \n\n", 1, "empty"),
        ("binary.py", bytes(range(256)), 1, "UTF-8"),
        ("large.py", b"#" * 10_000_000, 1, "65536 bytes"),
        ("plain.py", b"print(1)\n", 1, "header"),
        ("folder", None, 3, "is a folder"),
        ("missing.py", None, 3, "does not exist"),
    ],
)
@pytest.mark.parametrize("command", ["check", "admit"])
def test_files_that_are_no_designs(
    run: Run, command: str, name: str, data: bytes | None, code: int, says: str
) -> None:
    if data is not None:
        Path(name).write_bytes(data)
    elif name == "folder":
        Path(name).mkdir()
    got, out, err = run(command, name)
    assert got == code
    assert says in out + err
    assert not list(Path("user").rglob(".new-*"))


@pytest.mark.parametrize(
    ("name", "says"), [("pipe", "but a pipe"), ("socket", "but a socket"), ("/dev/zero", "but a device")]
)
@pytest.mark.parametrize("command", ["check", "admit"])
def test_what_is_no_regular_file_is_not_waited_for(run: Run, command: str, name: str, says: str) -> None:
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        code, _, err = run(command, name)
    assert code == 3
    assert f"{name} is no regular file {says}" in err


def test_a_link_to_a_file_is_a_file(run: Run) -> None:
    Path("design.py").write_text(HONEST)
    Path("link.py").symlink_to("design.py")
    assert read_design(Path("link.py")) == HONEST
    Path("loop.py").symlink_to("loop.py")
    assert run("check", "loop.py")[0] == 2


@pytest.mark.parametrize("data", [HONEST.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + HONEST.encode()])
def test_windows_files_are_read(run: Run, data: bytes) -> None:
    Path("design.py").write_bytes(data)
    assert read_design(Path("design.py")) == HONEST


def nested_finally(depth: int) -> str:
    """Python compiles a finally block twice, and so the innermost of these 2**depth times."""
    lines = ["def slow():"]
    for k in range(1, depth + 1):
        lines += [f"{' ' * 4 * k}{part}" for part in ("try:", "    pass", "finally:")]
    return "\n".join([*lines, " " * 4 * (depth + 1) + "pass", ""])


def test_a_file_that_hangs_the_compiler_is_refused(run: Run) -> None:
    Path("hangs.py").write_text(HONEST + "\n\n" + nested_finally(19))
    code, out, _ = run("check", "hangs.py", "--json")
    assert code == 1
    rules = {finding["rule"] for finding in documents(out)[0]["gates"][-1]["findings"]}
    assert rules == {"language.limit"}
    Path("waits.py").write_text(HONEST + "\n\nwhile True:\n    pass\n")
    code, out, _ = run("check", "waits.py", "--json")
    assert code == 1
    assert documents(out)[0]["gates"][-1]["findings"][0]["rule"] == "runs.timeout"


def test_a_file_that_kills_its_worker_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("eats.py").write_text(HONEST.replace("found = action", "found = [0] * 10**9 and action"))
    code, out, _ = run("check", "eats.py")
    assert code == 1
    assert "[runs.memory]" in out

    from spade_envs.isolation.host import Worker

    def killed(self: Worker, index: int) -> str:
        for process in workers():
            os.kill(process, signal.SIGKILL)
        return real(self, index)

    real = Worker.hint
    monkeypatch.setattr(Worker, "hint", killed)
    Path("dies.py").write_text(HONEST)
    code, out, _ = run("check", "dies.py")
    assert code == 1
    assert "[runs.died]" in out


def test_a_machine_that_cannot_judge_is_2(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(*_: Any, **__: Any) -> Report:
        raise IsolationError("no workers here")

    monkeypatch.setattr(many, "judge", judge)
    Path("good.py").write_text(HONEST)
    Path("bad.py").write_text("")
    code, out, err = run("check", "good.py", "bad.py", "--jobs", 1)
    assert code == 2
    assert "good.py: could not be judged: no workers here" in err
    assert "the file is empty" in out
    assert "0 of 2 admitted, 1 could not be judged" in out
    (document,) = documents(run("check", "good.py", "--json")[1])
    assert document == {"path": "good.py", "admitted": None, "error": "no workers here"}


def test_a_registry_that_cannot_be_used_is_said_before_anything_is_judged(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge(*_: Any, **__: Any) -> Report:
        raise AssertionError("judged in vain")

    monkeypatch.setattr(many, "judge", judge)
    Path("good.py").write_text(HONEST)
    Path("file").write_text("not a folder")
    for command, place in [("admit", "file"), ("admit", "file/in"), ("check", "file"), ("admit", "/proc/no")]:
        code, out, err = run(command, "good.py", "--registry", place)
        assert (code, out) == (2, "")
        assert place in err
        assert "name another folder with --registry" in err
    assert run("refused", "--registry", "file")[0] == 2

    monkeypatch.setattr(os, "fsync", full_disk())
    code, out, err = run("admit", "good.py", "--registry", "full")
    assert (code, out) == (2, "")
    assert "No space left on device; make room" in err
    assert not Path("full").exists()
    assert not list(Path().glob(".new-*"))


def full_disk(after: int = 0) -> Callable[[int], None]:
    """Stand for writing to a disk on which so many files find room."""
    room = iter(range(after))

    def write(_: int) -> None:
        if next(room, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")

    return write


@pytest.mark.parametrize("files", [1, 2])
@pytest.mark.parametrize("passed", [True, False])
def test_where_the_disk_fills_the_verdict_is_told_and_nothing_is_left(
    run: Run, monkeypatch: pytest.MonkeyPatch, passed: bool, files: int
) -> None:
    judged(monkeypatch, *([] if passed else [Finding("made.up", "it is bad", "Mend it.")]))
    Path("good.py").write_text(HONEST)
    monkeypatch.setattr(os, "fsync", full_disk(after=files))
    code, out, err = run("admit", "good.py", "--registry", "full")
    assert code == 2
    assert "No space left" in err
    assert ("admitted" if passed else "it is bad") in out
    assert {path.name.partition("-")[0] for path in Path("full").rglob("*")} == {".lock", "records.db"}


STARTED: list[subprocess.Popen[str]] = []


def shell(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "spade_envs.cli", *arguments]
    STARTED.append(subprocess.Popen(command, text=True, stderr=subprocess.PIPE, **options))
    return STARTED[-1]


@pytest.fixture(autouse=True)
def none_left() -> Iterator[None]:
    """A test that fails leaves no command running: it would slow down all that come after."""
    yield
    while STARTED:
        with STARTED.pop() as process:
            process.kill()


def test_a_full_disk_behind_the_output_is_2(run: Run) -> None:
    Path("bad.py").write_text("")
    with open("/dev/full", "w") as full:
        process = shell("check", "bad.py", "--json", stdout=full)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err.splitlines() == ["spade-envs: the output: No space left on device"]


def family(process: int) -> list[int]:
    return [process, *(pid for child in children(process) for pid in family(child))]


SLOW = HONEST.replace("found = action", "for _ in range(3000000): pass\n        found = action")


@pytest.mark.parametrize(
    ("number", "code", "says"),
    [
        (signal.SIGINT, 130, "stopped"),
        pytest.param(signal.SIGTERM, 143, "stopped by SIGTERM", marks=pytest.mark.soak),
    ],
)
def test_a_signal_ends_workers_and_tells_what_is_known(
    run: Run, number: signal.Signals, code: int, says: str
) -> None:
    for name, source in {"a.py": BAD_HEADER, "b.py": SLOW, "c.py": BAD_HEADER, "d.py": SLOW}.items():
        Path(name).write_text(source)
    process = shell("admit", "a.py", "b.py", "c.py", "d.py", "--jobs", "2", "--json", stdout=subprocess.PIPE)
    assert process.stdout is not None
    first = process.stdout.readline()
    time.sleep(3)  # what is refused at once is known, and two judges are at work
    assert eventually(lambda: len(family(process.pid)) >= 7, 120)  # each with zygote and worker
    started = family(process.pid)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert err.strip() == says
    assert [document["path"] for document in documents(first + out)] == ["a.py", "c.py"]
    assert eventually(lambda: not any(map(lives, started)), 2)
    files = [path.name for path in Path("user").rglob("*") if path.is_file()]
    kept = sorted(name for name in files if not name.startswith("records.db-"))
    design = code_sha256(HONEST)[:16]
    assert kept == sorted([".lock", f"{design}.json", f"{design}.py", "records.db"])


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.soak), 2])
@pytest.mark.parametrize("grown", [False, True])
def test_a_kill_ends_all_at_once(run: Run, jobs: int, grown: bool) -> None:
    """Whether they judge or are still being started."""
    for name in ("a.py", "b.py"):
        Path(name).write_text(SLOW)
    process = shell("check", "a.py", "b.py", "--jobs", str(jobs))
    size = {(1, False): 2, (1, True): 3, (2, False): 3, (2, True): 7}[jobs, grown]
    assert eventually(lambda: len(family(process.pid)) >= size, 120)
    time.sleep(0.3)  # a process is bound once it has been started
    started = family(process.pid)
    process.kill()
    process.wait(60)
    ended = eventually(lambda: not any(map(lives, started)), 1)
    process.communicate(timeout=60)
    assert ended


def test_control_c_alone(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any, **__: Any) -> Report:
        raise KeyboardInterrupt

    Path("good.py").write_text(HONEST)
    monkeypatch.setattr(many, "judge", stopped)
    code, _, err = run("check", "good.py")
    assert code == 130
    assert err.strip() == "stopped"


def test_on_a_terminal_there_is_a_bar_and_results_go_where_they_belong(run: Run) -> None:
    import pty

    Path("bad.py").write_text(BAD_HEADER)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "spade_envs.cli", "check", "bad.py", "bad.py", "--json"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    out, _ = process.communicate(timeout=60)
    bar = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "judging" in bar
    assert "left:" in bar
    assert [document["admitted"] for document in documents(out.decode())] == [False]
