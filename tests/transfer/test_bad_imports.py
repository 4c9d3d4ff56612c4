"""Bad input: each fault is named with its file, nothing is unpacked, and the rest goes on."""

from __future__ import annotations

import contextlib
import json
import os
import re
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parcels import entry, ids, source

from spade_envs.contract import Rejection
from spade_envs.errors import UsageError
from spade_envs.registry import Registry
from spade_envs.transfer import Arrival, archive, arrivals, export, lines

Run = Callable[..., tuple[int, str, str]]
Judged = Callable[..., list[str]]
GOOD, BAD = source("spade/Good-v0", "good"), source("spade/Bad-v0", "bad")


def found(arrival: Arrival) -> str:
    """All that is wrong with an arrival."""
    assert isinstance(arrival.source, Rejection), arrival
    return "; ".join(f"{finding.found} [{finding.rule}]" for finding in arrival.source.findings)


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """A folder with two versions, a good one and one that tests make bad."""
    export(tmp_path / "pool", [entry(GOOD), entry(BAD)])
    return tmp_path / "pool"


def zipped(folder: Path) -> Path:
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w") as file:
        for one in sorted(folder.rglob("*.*")):
            file.write(one, one.relative_to(folder))
    return path


def edited(old: str, new: str, name: str = "v0.py") -> Callable[[Path], object]:
    def edit(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))

    return edit


SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "changed": (edited("'bad'", "'worse'"), "its file_sha256 is .*files.hash.*its code_sha256 is"),
    "cut off": (lambda f: os.truncate(f / "v0.py", 200), "files.hash.*files.header"),
    "empty": (lambda f: (f / "v0.py").write_text(""), "files.hash"),
    "header": (edited('"A design"', '"Another"'), "its file_sha256 is"),
    "recorded hash": (edited('"file_sha256": "', '"file_sha256": "0', "v0.json"), "the recorded one is 0"),
    "no hash": (edited('"file_sha256"', '"sha256"', "v0.json"), "lacks file_sha256.*files.no-hash"),
    "no report": (lambda f: (f / "v0.json").unlink(), r"v0.json is missing \[files.unreadable"),
    "no source": (lambda f: (f / "v0.py").unlink(), r"v0.py is missing \[files.unreadable"),
    "no JSON": (lambda f: (f / "v0.json").write_text("{"), "v0.json is no JSON: .*files.unreadable"),
    "deep JSON": (lambda f: (f / "v0.json").write_text("[" * 100_000), "v0.json is no JSON: nested too deep"),
    "a list": (lambda f: (f / "v0.json").write_text("[]"), "v0.json holds no JSON object"),
    "other report": (edited("spade/Bad-v0", "spade/Good-v0", "v0.json"), "its report is of spade/Good-v0"),
    "binary": (lambda f: (f / "v0.py").write_bytes(b"\xff\xfe"), "v0.py is no UTF-8 text: byte 0"),
    "large": (lambda f: (f / "v0.py").write_text("#" * 70_000), "v0.py has more than 65536 bytes"),
    "large report": (lambda f: (f / "v0.json").write_text(" " * 2_000_000), "v0.json has more than 1048576"),
    "moved": (
        lambda f: [p.rename(f / f"v3{p.suffix}") for p in sorted(f.iterdir())],
        "its place says spade/Bad-v3",
    ),
}


@pytest.mark.parametrize("fault", SPOILT)
@pytest.mark.parametrize("form", ["folder", "zip"])
def test_a_bad_version_is_named_and_the_rest_goes_on(
    run: Run, judged: Judged, pool: Path, tmp_path: Path, fault: str, form: str
) -> None:
    seen = judged()
    spoil, says = SPOILT[fault]
    spoil(pool / "Bad")
    place = pool if form == "folder" else zipped(pool)
    code, out, _ = run("import", place.name, "--jobs", 1)
    assert code == 1
    assert seen == ["spade/Good-v0"]
    assert "1 of 2 admitted" in out
    assert ids(Registry(tmp_path / "user")) == ["spade/Good-v0"]
    (bad,) = (one for one in arrivals(place.name) if isinstance(one.source, Rejection))
    assert bad.place.startswith(f"{place.name}{'/' if form == 'folder' else ':'}Bad/v")
    assert re.search(says, found(bad)), found(bad)
    assert bad.place in out


@pytest.mark.parametrize("name", ["Bad/v0.py", "Bad/v0.json"])
def test_a_folder_with_what_is_no_file(pool: Path, name: str) -> None:
    """A pipe would never come to its end."""
    (pool / name).unlink()
    os.mkfifo(pool / name)
    (bad, good) = arrivals(pool)
    assert "is no regular file" in found(bad)
    assert good.source == GOOD


def test_a_folder_of_a_wrong_name_is_said(pool: Path) -> None:
    (pool / "Bad").rename(pool / "bad_name")
    (bad, good) = arrivals(pool)
    assert bad.place == str(pool / "bad_name")
    assert "its name is none of an environment [files.place]" in found(bad)
    assert good.source == GOOD


def directory(version: int = 20, flags: int = 0, name: bytes = b"x") -> bytes:
    """A zip's directory of one member, without the member."""
    entry = (
        struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, version, flags, *[0] * 3, *[0] * 3, len(name), *[0] * 6)
        + name
    )
    return entry + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(entry), 0, 0)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("missing.zip", None, "does not exist"),
        ("pool.tar", b"x", "ends with none of .zip, .whl, .jsonl"),
        ("design.py", GOOD.encode(), "spade-envs admit"),
        ("no.zip", b"PK\x03\x04 no more", "is no zip .*made again"),
        ("empty.zip", b"", "is no zip"),
        ("newer.zip", directory(version=99), r"is no zip that can be read \(zip file version 9.9\)"),
        ("names.zip", directory(flags=0x800, name=b"\xff"), "is no zip that can be read .*'utf-8' codec"),
        ("void.zip", b"PK\x05\x06" + bytes(18), "holds no versions"),
        ("empty.jsonl", b"\n\n", "holds no versions"),
        ("a\x1b\nb.zip", None, r"a\\x1b\\nb.zip does not exist"),
        ("a\x1b\nb.zip", b"", r"a\\x1b\\nb.zip is no zip"),
    ],
)
def test_what_is_no_export(run: Run, name: str, data: bytes | None, says: str) -> None:
    if data is not None:
        Path(name).write_bytes(data)
    with pytest.raises(UsageError, match=says):
        arrivals(name)
    assert run("import", name)[0] == 3


def test_a_folder_without_versions(run: Run, tmp_path: Path) -> None:
    (tmp_path / "void").mkdir()
    code, _, err = run("import", "void")
    assert code == 3
    assert "void holds no versions; they lie in it as <Name>/vN.py" in err


STRAYS = ["../Bad/v0.py", "/Bad/v0.py", "a/../../Bad/v0.py", "..\\Bad\\v0.py"]


@pytest.mark.parametrize("name", STRAYS)
def test_names_that_lead_out_of_an_archive(pool: Path, tmp_path: Path, name: str) -> None:
    path = zipped(pool)
    (pool / "Bad" / "v0.py").unlink()
    with zipfile.ZipFile(path, "w") as file:
        member = zipfile.ZipInfo("plain")
        member.filename = name
        file.writestr(member, BAD)
        for one in sorted((pool / "Good").iterdir()):
            file.write(one, f"pool/Good/{one.name}")
    before = sorted(tmp_path.rglob("*"))
    (bad, good) = arrivals(path)
    assert "leads out of the archive" in found(bad)
    assert bad.place.startswith(f"{path}:")
    assert good == Arrival(f"{path}:pool/Good/v0.py", GOOD)
    assert sorted(tmp_path.rglob("*")) == before, "nothing is unpacked"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_twice(pool: Path) -> None:
    path = zipped(pool)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("Bad/v0.py", GOOD)
    (bad, *others) = arrivals(path)
    assert "stands in it twice" in found(bad)
    assert {one.source for one in others} == {GOOD, BAD}, "the first counts"


def test_a_bomb_is_not_unpacked(pool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(pool)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("Bomb/v0.py", b"#" * 20_000_000)
        file.writestr("Bomb/v0.json", b" " * 20_000_000)
    assert path.stat().st_size < 100_000
    read: list[int] = []
    real = zipfile.ZipExtFile._read1  # type: ignore[attr-defined]

    def counted(self: zipfile.ZipExtFile, n: int) -> bytes:
        data: bytes = real(self, n)
        read.append(len(data))
        return data

    monkeypatch.setattr(zipfile.ZipExtFile, "_read1", counted)
    (bomb, *others) = arrivals(path)
    assert sum(read) < 3_000_000
    assert "v0.py has more than 65536 bytes" in found(bomb)
    assert len(others) == 2
    monkeypatch.setattr(archive, "MOST_BYTES", 500_000)
    with pytest.raises(UsageError, match=r"holds 3 versions that unpack to 1,1.* bytes; .*split it"):
        arrivals(path)
    monkeypatch.setattr(archive, "MOST_VERSIONS", 2)
    with pytest.raises(UsageError, match="at most 2 and"):
        arrivals(path)


def test_members_that_cannot_be_read(pool: Path) -> None:
    path = zipped(pool)
    data = path.read_bytes()
    place = data.index(BAD.encode())
    path.write_bytes(data[: place + 250] + b"?" + data[place + 251 :])
    assert "v0.py cannot be unpacked: Bad CRC-32" in found(arrivals(path)[0])
    encrypted = bytearray(data)
    encrypted[data.index(b"PK\x01\x02") + 8] |= 1  # the first member of the directory: Bad/v0.json
    path.write_bytes(encrypted)
    assert "v0.json cannot be unpacked: " in found(arrivals(path)[0])


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("sound")
    for name in ("pool.zip", "pool.jsonl"):
        export(folder / name, [entry(GOOD), entry(BAD)])
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", ["pool.zip", "pool.jsonl"])
@given(data=st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_spoilt_bytes_are_no_crash_and_never_pass_as_what_they_were(
    tmp_path: Path, sound: dict[str, bytes], name: str, data: st.DataObject
) -> None:
    spoilt = bytearray(sound[name])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(spoilt) - 1))
        spoilt[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    (tmp_path / name).write_bytes(spoilt)
    with contextlib.suppress(UsageError):
        for arrival in arrivals(tmp_path / name):
            known = isinstance(arrival.source, Rejection) or arrival.source in (GOOD, BAD)
            assert known or not claims(bytes(spoilt), arrival)


def claims(spoilt: bytes, arrival: Arrival) -> bool:
    """Whether what came in says what its file's hash is; that name may have been spoilt, too."""
    number = arrival.place.rpartition(":")[2]
    return not number.isdigit() or "file_sha256" in json.loads(spoilt.split(b"\n")[int(number) - 1])


LINE = json.dumps({"source": GOOD})


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "the line is no JSON: "),
        ('{"source": NaN}', "the line is no JSON: NaN"),
        ("[" * 100_000, "the line is no JSON: nested too deeply"),
        ('{"n": ' + "9" * 5_000 + "}", "the line is no JSON: "),
        ("[1]", 'no object with a text "source"'),
        ('{"source": 7}', 'no object with a text "source"'),
        ("{}", 'no object with a text "source"'),
        ('"' + "x" * (lines.LINE_LIMIT + 10), "the line has more than 4194304 bytes"),
        (json.dumps({"source": BAD, "file_sha256": "0" * 64}), "the recorded one is 0000000000000000..."),
        (json.dumps({"source": BAD, "code_sha256": 5}), "the recorded one is 5..."),
        ("\udcff", "the line is no JSON: "),
    ],
)
def test_a_broken_line_is_named_by_its_number(run: Run, judged: Judged, line: str, says: str) -> None:
    seen = judged()
    text = "\n".join(["", LINE, line, LINE.replace("Good", "Goods")])
    Path("pool.jsonl").write_bytes(text.encode("utf-8", "surrogateescape"))
    code, out, _ = run("import", "pool.jsonl", "--jobs", 1)
    assert code == 1
    (told,) = (line for line in out.splitlines() if "[files." in line)
    assert told.startswith("pool.jsonl:3: ")
    assert says in told
    assert "1 of 3 admitted" in out, "the code of the second is that of the first"
    assert seen[0] == "spade/Good-v0"


def test_a_source_that_no_registry_could_hold(run: Run) -> None:
    """A header that is none, too long a text: that is for admission to say. Half a character is in no file."""
    rows = [{"source": GOOD + "# \udcff"}, {"source": "print(1)"}, {"source": GOOD + "#" * 70_000}]
    Path("pool.jsonl").write_text("\n".join(map(json.dumps, rows)))
    code, out, _ = run("import", "pool.jsonl", "--json", "--jobs", 1)
    assert code == 1
    first, *rest = (json.loads(line) for line in out.splitlines())
    rules = [row["gates"][-1]["findings"][0]["rule"] for row in (first, *rest)]
    assert sorted(rules) == ["files.unreadable", "header.missing", "language.limit"]
