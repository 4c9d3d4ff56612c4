"""The doctor: layers are tried, what fails is named with its remedy, and the exit code says it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from locked import needs_libseccomp

from spade_envs.cli import app as cli
from spade_envs.errors import IsolationError
from spade_envs.isolation import doctor, fork_server, landlock, probe, seccomp
from spade_envs.isolation.doctor import Diagnosis, diagnose


@pytest.fixture(scope="module")
def found() -> Diagnosis:
    needs_libseccomp()
    return diagnose()


def test_every_required_layer_holds_here(found: Diagnosis) -> None:
    assert found.sound
    assert [layer.name for layer in found.layers if layer.required and not layer.holds] == []
    assert all(bool(layer.remedy) != layer.holds for layer in found.layers)


def test_optional_layers_hold_where_the_kernel_has_them(found: Diagnosis) -> None:
    holds = {layer.name: layer.holds for layer in found.layers}
    assert holds[doctor.LANDLOCK] == (landlock.version() > 0)


def test_attempts_name_the_layer_that_answered(found: Diagnosis) -> None:
    answers = {(attempt.name, attempt.filtered): attempt for attempt in found.attempts}
    assert len(answers) == len(found.attempts)
    assert answers["open a folder", True].layer == doctor.CALLS
    assert answers["use too much memory", False].layer == doctor.LIMITS
    assert answers["bpf", True].answer == doctor.SIGNAL
    if landlock.version():
        assert answers["open a folder", False].layer == doctor.LANDLOCK
    assert answers["make memory executable", False].layer == ""


@pytest.mark.parametrize("name", [*probe.ATTEMPTS, "bpf"])
def test_whatever_works_in_a_worker_is_a_missing_layer(found: Diagnosis, name: str) -> None:
    attempts = tuple(
        replace(attempt, answer=probe.DONE) if attempt.name == name else attempt for attempt in found.attempts
    )
    facts = {
        "user": "65534",
        "capabilities": "0",
        "no_new_privs": "1",
        "dies_with_parent": "True",
        "namespaces": "net",
        "landlock": "7",
        "libseccomp": "2.5.4",
    }
    layers = tuple(doctor._layers(attempts, facts))
    assert not Diagnosis(layers).sound
    assert any(layer.remedy for layer in layers if not layer.holds)


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_the_command_says_it(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    needs_libseccomp()
    assert cli.run(["doctor", *option]) == 0
    text = capsys.readouterr().out
    if option:
        assert json.loads(text)["sound"] is True
    assert "Landlock" in text
    assert "ENOENT" in text or "EACCES" in text
    assert "kexec_load" in text


def test_a_machine_that_cannot_is_told_how(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(request: bytes) -> None:
        raise IsolationError(seccomp.MISSING)

    monkeypatch.setattr(fork_server, "open_probe", fail)
    assert cli.run(["doctor"]) == 2
    assert "apt-get install libseccomp2" in capsys.readouterr().out
    assert cli.run(["doctor", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["layers"][0]["holds"] is False
