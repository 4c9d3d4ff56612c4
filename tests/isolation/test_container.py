"""Workers in containers: Bubblewrap's for real, and the life cycle of the others with a stand-in."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from containers import STAND_IN, bubblewraps_folder, containers, family, write_runtime
from processes import children, descriptors, eventually, lives, outcome
from small_designs import ENDLESS, design, prepared

from spade_envs import seeds_folder
from spade_envs.envs import IsolatedEnv
from spade_envs.errors import IsolationError, WorkerFault
from spade_envs.isolation import Limits, Worker, container
from spade_envs.isolation.container_commands import Container, bubblewrap

PATIENT = Limits(build_s=30, call_s=30)  # the machine may be busy


@pytest.fixture(scope="module")
def bubblewraps_place() -> str:
    folder = bubblewraps_folder()
    if folder is None:
        pytest.skip("bwrap is not installed")
    command = [f"{folder}/bwrap", *bubblewrap(Container.of_worker(Limits(), 0))[1:]]
    program = command.index("--") + 1
    tried = subprocess.run([*command[:program], "/usr/bin/true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"bwrap cannot work here: {tried.stderr.strip()}")
    return folder


@pytest.fixture
def bwrap(bubblewraps_place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", bubblewraps_place, prepend=os.pathsep)
    monkeypatch.setenv("SPADE_CONTAINER", "bwrap")


def put_stand_in(name: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have a runtime whose stand-in keeps the file ``calls`` in the folder."""
    write_runtime(folder, name, STAND_IN)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.setenv("SPADE_CONTAINER", name)


@pytest.fixture(params=["bwrap", "docker"])
def runtime(request: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Bubblewrap and a stand-in by turns."""
    if request.param == "bwrap":
        request.getfixturevalue("bwrap")
    else:
        put_stand_in(request.param, monkeypatch, tmp_path)
    return request.param


@pytest.fixture
def worker(bwrap: None) -> Iterator[Worker]:
    patient = Worker.start(PATIENT, isolation="container")
    yield patient
    patient.close()


def episodes(source: str, isolation: Any) -> list[Any]:
    environment = IsolatedEnv(source, isolation=isolation, limits=PATIENT, on_fault="raise")
    environment.action_space.seed(1)
    seen: list[Any] = [environment.rules, environment.observation_space, environment.tools]
    for seed in range(3):
        seen += [environment.reset(seed=seed), environment.hint(), environment.describe()]
        for turn in range(12):
            action = environment.expert_action() if turn % 2 else environment.action_space.sample()
            seen.append(environment.step(action))
            if seen[-1][2]:
                break
    environment.close()
    return seen


@pytest.mark.parametrize("name", ["lamp_row", "oasis_walk", "largest_value"])
def test_whole_episodes_are_those_of_a_process(bwrap: None, name: str) -> None:
    source = (seeds_folder() / f"{name}.py").read_text()
    assert str(episodes(source, "container")) == str(episodes(source, "process"))


def test_gymnasium_makes_one(bwrap: None) -> None:
    environment = gymnasium.make("spade/LampRow-v0", isolation="container")
    observation, _ = environment.reset(seed=0)
    assert environment.observation_space.contains(observation)
    assert len(containers()) == 1
    environment.close()
    assert containers() == []


def test_large_messages_pass(worker: Worker) -> None:
    picture = "np.full((1000, 1000), self._turn, np.uint8)"
    space = "spaces.Box(0, 255, (1000, 1000), np.uint8)"
    index = prepared(
        worker, observation_space=space, observation=picture, action_space="spaces.Text(900_000)"
    )
    worker.reset(index)
    assert worker.step(index, "a" * 900_000)[0].sum() == 10**6


def test_hash_seeds_are_the_interpreters(bwrap: None) -> None:
    orders = set()
    for hash_seed in (0, 1):
        worker = Worker.start(PATIENT, hash_seed, "container")
        index = prepared(worker, info="{'order': ''.join({'ab', 'cd', 'ef', 'gh', 'ij', 'kl'})}")
        worker.reset(index, 0)
        orders.add(worker.step(index, 0)[4]["order"])
        worker.close()
    assert len(orders) == 2


PROBE = """
import json, os, socket, sys

def attempt(action, *arguments):
    try:
        return repr(action(*arguments))
    except OSError as error:
        return type(error).__name__

def written(path):
    return os.close(os.open(path, os.O_CREAT | os.O_WRONLY))

if os.geteuid() == 0:  # as the worker will
    os.setresuid(65534, 65534, 65534)
places = [folder for folder, _, _ in os.walk("/") if not folder.startswith("/proc/")]
settings = [f"{folder}/{file}" for folder, _, files in os.walk("/proc") for file in files
            if not folder.startswith(("/proc/1", "/proc/pressure")) and "/self" not in folder]
print(json.dumps({
    "created": [place for place in places if attempt(written, place + "/probe") == "None"],
    "changed": [file for file in settings if os.access(file, os.W_OK)],
    "places": len(places),
    "roots": os.listdir("/"),
    "etc": attempt(os.listdir, "/etc"),
    "processes": [name for name in os.listdir("/proc") if name.isdigit()],
    "interfaces": [name for _, name in socket.if_nameindex()],
    "connect": attempt(socket.socket().connect, ("127.0.0.1", int(sys.argv[1]))),
    "abstract": attempt(socket.socket(socket.AF_UNIX).connect, "\\0" + sys.argv[2]),
    "variables": sorted(os.environ),
    "privileges": [line for line in open("/proc/self/status") if line.startswith(("CapEff", "NoNewPrivs"))],
}))
"""


@pytest.mark.parametrize("as_root", [True, False])
def test_a_container_is_empty(bwrap: None, monkeypatch: pytest.MonkeyPatch, as_root: bool) -> None:
    """Even to code that runs before the worker locks itself down."""
    if as_root and os.geteuid() != 0:
        pytest.skip("only root's containers do without a user namespace")
    monkeypatch.setenv("SECRET", "42")
    name = f"spade-probe-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind("\0" + name)
        local.listen()
        program = ("-P", "-c", PROBE, str(server.getsockname()[1]), name)
        probing = replace(Container.of_worker(Limits(), 0), program=program, as_root=as_root)
        done = subprocess.run(bubblewrap(probing), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["created"] == []
    if os.geteuid() != 0 or as_root:  # root's files stay root's in a user namespace
        assert found["changed"] == []
    assert not [file for file in found["changed"] if file.startswith("/proc/sys")]
    assert found["places"] > 100
    assert not {"var", "run", "sys", "boot"} & set(found["roots"])
    assert found["etc"] in ("['ld.so.cache']", "PermissionError")
    assert found["processes"] == ["1"]
    assert found["interfaces"] == ["lo"]
    assert found["connect"] == found["abstract"] == "ConnectionRefusedError"
    known = {*probing.variables, "PWD", "LC_CTYPE"}
    assert set(found["variables"]) <= known
    assert found["privileges"][1] == "NoNewPrivs:\t1\n"
    assert int(found["privileges"][0].split()[1], 16) == 0


def test_the_worker_itself_is_nobody(worker: Worker) -> None:
    prepared(worker)
    *_, process = family(containers()[0])
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    values = dict(line.split(":\t", 1) for line in status if ":\t" in line)
    user = "65534" if os.geteuid() == 0 else str(os.geteuid())  # outside of its namespace
    assert set(values["Uid"].split()) == {user}
    assert int(values["CapEff"], 16) == int(values["CapPrm"], 16) == 0


@pytest.mark.parametrize("call", ["step", "reset"])
def test_a_deadline_leaves_no_process(runtime: Any, call: str) -> None:
    late = []
    for _ in range(4):  # the machine may be busy
        worker = Worker.start(Limits(build_s=30, call_s=0.7), isolation="container")
        prepared(worker, **{call: ENDLESS})
        everything = family(containers()[-1])
        assert len(everything) == 3  # the runtime, the container's first process, the worker
        begin = time.monotonic()
        fault = outcome(worker.reset, 0)
        if call == "step":
            begin = time.monotonic()
            fault = outcome(worker.step, 0, 0)
        late.append(time.monotonic() - begin - 0.7)
        assert fault.kind == "timeout"
        assert str(fault) == f"{call} took longer than 0.7 s and was stopped"
        assert not worker.alive
        assert eventually(lambda everything=everything: not any(map(lives, everything)))
        if late[-1] < 0.2:
            break
    assert min(late) < 0.2


@pytest.mark.parametrize("name", ["docker", "podman"])
def test_a_container_is_killed_by_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    put_stand_in(name, monkeypatch, tmp_path)
    worker = Worker.start(PATIENT, isolation="container")
    prepared(worker)
    started = (tmp_path / "calls").read_text().split()
    (name,) = (path.name for path in tmp_path.glob("spade-*"))
    assert started == ["run", "--rm"]
    worker.close()
    assert eventually(lambda: (tmp_path / "calls").read_text().split() == ["run", "--rm", "kill", name])
    assert eventually(lambda: containers() == [])


def test_a_worker_that_dies_is_named_with_its_signal(runtime: Any) -> None:
    worker = Worker.start(PATIENT, isolation="container")
    index = prepared(worker)
    os.kill(family(containers()[0])[-1], signal.SIGKILL)
    with pytest.raises(WorkerFault, match=r"reset: the worker died \(signal SIGKILL\)") as caught:
        worker.reset(index)
    assert caught.value.kind == "died"
    assert eventually(lambda: containers() == [])


def test_a_dead_runtime_takes_its_worker_along(runtime: Any) -> None:
    worker = Worker.start(PATIENT, isolation="container")
    index = prepared(worker, step=ENDLESS)
    worker.reset(index)
    everything = family(containers()[0])
    os.kill(everything[0], signal.SIGKILL)
    if runtime == "bwrap":
        assert outcome(worker.step, index, 0).kind == "died"
    worker.close()  # the others' containers live on without their client
    assert eventually(lambda: not any(map(lives, everything)))


def test_an_interrupted_call_ends_the_worker(worker: Worker) -> None:
    index = prepared(worker, step=ENDLESS)
    worker.reset(index)
    everything = family(containers()[0])
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            worker.step(index, 0)
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    assert not worker.alive
    assert eventually(lambda: not any(map(lives, everything)))


def test_a_container_outlives_the_thread_that_asked_for_it(bwrap: None) -> None:
    """A runtime that dies with its parent dies with the thread that is its parent."""
    started: list[Worker] = []
    asking = threading.Thread(target=lambda: started.append(Worker.start(PATIENT, isolation="container")))
    asking.start()
    asking.join()
    time.sleep(0.2)
    assert prepared(started[0]) == 0
    started[0].close()


def test_kills_leave_nothing(bwrap: None) -> None:
    Worker.start(isolation="container").close()
    before = (descriptors(), children())
    for count in range(6):
        worker = Worker.start(isolation="container")
        if count % 2:
            worker.close()
        del worker
    assert (descriptors(), children()) == before


FAILING = """\
#!/bin/sh
echo 'setting up uid map: Permission denied' >&2
exit 1
"""


@pytest.mark.parametrize(
    ("script", "says"),
    [
        (
            FAILING,
            r"it ended \(exit status 1: setting up uid map: Permission denied\)\. Bubblewrap needs namesp",
        ),
        ("#!/bin/sh\nexec sleep 60\n", r"it was not ready after 0.3 s \(how is unknown\)"),
        ("#!/bin/sh\necho Hello.\nexec sleep 60\n", r"what came was no message"),
        ("#!/bin/sh\nprintf '\\003\\000\\000\\000abc'\nexec sleep 60\n", r"b'abc' came before it was ready"),
        ("#!/nowhere\n", "bwrap cannot be started: No such file"),
    ],
    ids=["fails", "hangs", "talks", "lies", "broken"],
)
def test_a_runtime_that_does_not_start_a_worker_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, says: str
) -> None:
    write_runtime(tmp_path, "bwrap", script)
    # Alone where it can be: instead of a command that cannot be started, the next of that name is.
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep if "sleep" in script else None)
    monkeypatch.setenv("SPADE_CONTAINER", "bwrap")
    if "sleep" in script:
        monkeypatch.setitem(container.START_S, "bwrap", 0.3)
    before = (descriptors(), len(children()))
    with pytest.raises(IsolationError, match=says):
        Worker.start(isolation="container")
    assert (descriptors(), len(children())) == before


HOST = """
import os, sys, time
from spade_envs.isolation import Limits, Worker
worker = Worker.start(Limits(build_s=30, call_s=30), isolation="container")
worker.load(sys.argv[1])
worker.make()
worker.reset(0, 1)
if sys.argv[2] == "fork":
    child = os.fork()
    if child == 0:
        assert not worker.alive
        own = Worker.start(Limits(build_s=30, call_s=30), isolation="container")
        own.load(sys.argv[1])
        own.make()
        own.reset(0, 1)
        print("child", own.step(0, 0)[0], flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    print("parent", worker.step(0, 0)[0])
elif sys.argv[2] != "exit":
    if sys.argv[2] == "copied" and os.fork() == 0:
        time.sleep(60)
    print("ready", flush=True)
    worker.step(0, 0)
    time.sleep(60)
"""


def host(mode: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOST, design(step=ENDLESS if mode == "busy" else "pass"), mode]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_forked_child_starts_its_own(runtime: Any) -> None:
    with host("fork") as process:
        said, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert said.splitlines() == ["child 1", "parent 1"]


def test_a_host_that_ends_without_closing_says_nothing(runtime: Any) -> None:
    with host("exit") as process:
        assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0


@pytest.mark.parametrize("mode", ["plain", "busy", "copied"])
def test_a_killed_host_leaves_no_orphan(runtime: Any, mode: str) -> None:
    """Not even where a forked copy of the host lives on, or where the worker never ends by itself."""
    with host(mode) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert eventually(lambda: len(family(process.pid)) >= 4)
        everything = family(process.pid)
        copies = [child for child in children(process.pid) if len(family(child)) == 1]
        process.kill()
        process.wait()
        assert eventually(lambda: not any(map(lives, set(everything) - set(copies))))
        for copy in copies:
            os.kill(copy, signal.SIGKILL)


def test_the_page_on_containers_is_true(bwrap: None) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "containers.md").read_text()
    (program,) = re.findall(r"^```py\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)
