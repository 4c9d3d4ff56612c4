"""What the contract refuses: each with line, construct and remedy, and all refusals of a file in one go."""

from __future__ import annotations

import json
import textwrap

import pytest
from language_programs import HEADER, HEADER_LINES, design, findings, program_rules, rules

from spade_envs.contract import Rejection
from spade_envs.language import compile_source
from spade_envs.language.policy import MAX_FINDINGS
from spade_envs.language.refusals import REFUSED_BUILTINS

# What stands on line 2 after a first line of comment -> the rule, and words of the finding or its remedy.
REFUSED = {
    "import os": ("import", "os"),
    "import time": ("import", "no clock"),
    "import sys as json": ("import", "sys"),
    "import os.path": ("import", "os.path"),
    "import gym": ("import", "import gymnasium as gym"),
    "import numpyy": ("import", "Did you mean `numpy`"),
    "import numpy.lib": ("import", "numpy.lib"),
    "import _io": ("import", "_io"),
    "from . import x": ("import", "`.`"),
    "from os import system": ("import", "os"),
    "from random import SystemRandom": ("import", "self.np_random"),
    "from math import *": ("import", "Name each member"),
    "from collections import __builtins__": ("dunder", "__builtins__"),
    "import numpy as np; np.random.seed(1)": ("import", "default_rng"),
    "import numpy as np; np.lib.stride_tricks": ("import", "lib"),
    "import random as r; r._os": ("import", "_os"),
    "from functools import update_wrapper": ("import", "update_wrapper"),
    "from operator import attrgetter": ("import", "attrgetter"),
    "from typing import get_type_hints": ("import", "get_type_hints"),
    "from enum import EnumMeta": ("import", "EnumMeta"),
    "from string import Formatter": ("import", "Formatter"),
    "import numpy as np; np.array('now', dtype='M8[s]')": ("clock", "whole numbers"),
    "import numpy as np; np.zeros(1, 'datetime64[us]')": ("clock", "clock"),
    "import numpy as np; np.zeros(1, '<M8')": ("clock", "clock"),
    "import numpy; numpy.ndarray((1,), object)": ("construct", "raw memory"),
    "from numpy import ndarray as a; a(3)": ("construct", "raw memory"),
    "x = ().__class__": ("dunder", "type(object)"),
    "x = len.__self__": ("dunder", "__self__"),
    "x = (lambda: 0).__globals__": ("dunder", "__globals__"),
    "x = super().__reduce__()": ("dunder", "__reduce__"),
    "x = __builtins__": ("dunder", "__builtins__"),
    "__all__ = []": ("dunder", "__all__"),
    "def __getattr__(name): ...": ("dunder", "__getattr__"),
    "def f(__import__): ...": ("dunder", "__import__"),
    "def f(a, __x__, /): ...": ("dunder", "__x__"),
    "f = lambda *__x__: 0": ("dunder", "__x__"),
    "f = dict(__array__=1)": ("dunder", "__array__"),
    "import math as __x__": ("dunder", "__x__"),
    "class A: __array_interface__ = {}": ("dunder", "__array_interface__"),
    "class A: __slots__ = ()": ("dunder", "__slots__"),
    "class A: __array__: int = 1": ("dunder", "__array__"),
    "class A: from math import pi as __array__": ("dunder", "__array__"),
    "class A:\n  for __array__ in [1]: pass": ("dunder", "__array__"),
    "class A:\n  def __del__(self): ...": ("dunder", "__del__"),
    "class A:\n  def __getattribute__(self, n): ...": ("dunder", "__getattribute__"),
    "class A:\n  @property\n  def __class__(self): ...": ("dunder", "__class__"),
    "def __init__(self): ...": ("dunder", "__init__"),
    "class __A__: ...": ("dunder", "__A__"),
    "try: pass\nexcept ValueError as __x__: pass": ("dunder", "__x__"),
    "match 1:\n  case __x__: pass": ("dunder", "__x__"),
    "match [1]:\n  case [*__x__]: pass": ("dunder", "__x__"),
    "match {}:\n  case {**__x__}: pass": ("dunder", "__x__"),
    "match 1:\n  case int(__class__=x): pass": ("attribute", "__class__"),
    "match 1:\n  case int(gi_frame=x): pass": ("attribute", "gi_frame"),
    "if (__x__ := 1): pass": ("dunder", "__x__"),
    "global __x__": ("dunder", "__x__"),
    "x = eval('1')": ("builtin", "run_program"),
    "x = [].append.f_back": ("attribute", "f_back"),
    "x = (i for i in ()).gi_frame": ("attribute", "gi_frame"),
    "class A: gi_frame = 1\nx = A.gi_frame": ("attribute", "gi_frame"),
    "x = ValueError().with_traceback": ("attribute", "with_traceback"),
    "x = [].tb_frame": ("attribute", "tb_frame"),
    "x = AttributeError().obj": ("attribute", "obj"),
    "x = int.mro()": ("attribute", "mro"),
    "import datetime; x = datetime.datetime.now()": ("attribute", "no clock"),
    "import numpy as np; np.zeros(1).ctypes": ("attribute", "ctypes"),
    "import numpy as np; np.zeros(1).tofile('x')": ("attribute", "tofile"),
    "import numpy as np; np.zeros(1).resize(9, refcheck=False)": ("attribute", "resize"),
    "x = getattr(1, '__class__')": ("attribute", "__class__"),
    "x = hasattr(1, 'f_back')": ("attribute", "f_back"),
    "x = type('X', (), {})": ("type", "class statement"),
    "x = type(*[1, 2], **{})": ("type", "class statement"),
    "class M(type): ...": ("metaclass", "abc.ABC"),
    "class A(metaclass=int): ...": ("metaclass", "metaclass"),
    "class A(**{}): ...": ("metaclass", "metaclass"),
    "async def f(): ...": ("async", "ordinary functions"),
    "try: pass\nexcept* ValueError: pass": ("construct", "except*"),
    "import math; math.pi = 3": ("foreign-write", "math"),
    "import math; del math.pi": ("foreign-write", "math"),
    "from collections import Counter; Counter.most_common = 1": ("foreign-write", "Counter"),
    "import numpy as np; np.random.x['a'].b += 1": ("foreign-write", "numpy"),
    "import string; string.digits[0] = 'x'": ("foreign-write", "string"),
    "len = lambda x: 0": ("builtin", "len"),
    "def print(*a): ...": ("builtin", "print"),
    "class list: ...": ("builtin", "list"),
    "def f():\n  global len\n  len = 1": ("builtin", "len"),
    "x = pd.DataFrame()": ("name", "pd"),
    "x = itertools.count()": ("name", "import itertools"),
    "x = dataclass": ("name", "from dataclasses import dataclass"),
    "coins = 1; x = coin": ("name", "coins"),
    "def f(:": ("syntax", "Python cannot read"),
    "return 3": ("syntax", "outside function"),
    "def f():\n  nonlocal x": ("syntax", "nonlocal"),
    "break": ("syntax", "break"),
}


@pytest.mark.parametrize("code", REFUSED)
def test_it_is_refused_with_line_construct_and_remedy(code: str) -> None:
    rule, words = REFUSED[code]
    found = [finding for finding in findings("# first line\n" + code) if finding.rule == f"language.{rule}"]
    assert found, rules("# first line\n" + code)
    first = found[0]
    assert first.line in range(2, 3 + code.count("\n")) or "nonlocal" in code
    assert first.column is not None
    assert words in first.found + first.remedy
    assert first.remedy.endswith((".", "?"))


@pytest.mark.parametrize("name", REFUSED_BUILTINS)
def test_a_builtin_is_refused_with_its_remedy(name: str) -> None:
    (finding,) = findings(f"def f(x):\n    return {name}(x)")
    assert (finding.rule, finding.line, finding.column) == ("language.builtin", 2, 12)
    assert finding.remedy == REFUSED_BUILTINS[name]


def test_type_aliases_and_type_parameters_are_refused_on_every_python() -> None:
    assert rules("type X = int")
    assert rules("def f[T](x): ...")


def test_all_refusals_come_in_one_go_in_the_order_of_the_source() -> None:
    code = "import os\n\n\ndef f(x):\n    return eval(x) + x.__class__\n\n\nclass A(metaclass=type): ...\n"
    source = "# no header\n" + textwrap.dedent(code)
    compiled = compile_source(source)
    assert isinstance(compiled, Rejection)
    assert [(f.rule, f.line) for f in compiled.findings if f.rule.startswith("language.")] == [
        ("language.import", 2),
        ("language.builtin", 6),
        ("language.dunder", 6),
        ("language.metaclass", 9),
        ("language.environment-class", None),
    ]
    assert compiled.findings[0].rule.startswith(("header.", "language.environment"))
    text = compiled.text("a.py", source)
    assert (
        "a.py:6:12: `eval` is not to be had here. [language.builtin]\n    return eval(x) + x.__class__"
        in text
    )
    json.dumps([finding.as_dict() for finding in compiled.findings])


def test_no_more_than_a_hundred_refusals_are_listed() -> None:
    assert len(rules("import os\n" * 200)) == MAX_FINDINGS


def test_a_faulty_header_and_a_faulty_text_are_told_together() -> None:
    compiled = compile_source("# /// spade\n# ///\nx = (")
    assert isinstance(compiled, Rejection)
    assert {finding.rule.partition(".")[0] for finding in compiled.findings} == {"header", "language"}


CLASSES = {
    "": ("no environment class", None),
    "class A: ...": ("no environment class", None),
    "import gymnasium as gym\nclass A(gym.Env): ...\nclass B(gym.Env): ...": ("A, B", 3),
    "from gymnasium import Env as E\nfrom spade_envs import ToolEnv\nclass A(E): ...\nclass B(ToolEnv): ...": (
        "A, B",
        4,
    ),
    "import gymnasium as gym\nclass A(gym.Env): ...\nclass B(A): ...\nclass C(A): ...": ("B, C", 4),
}


@pytest.mark.parametrize("code", CLASSES)
def test_there_is_exactly_one_environment_class(code: str) -> None:
    words, line = CLASSES[code]
    compiled = compile_source(HEADER + code)
    assert isinstance(compiled, Rejection)
    (finding,) = compiled.findings
    assert finding.rule == "language.environment-class"
    assert words in finding.found
    assert finding.line == (line and line + HEADER_LINES)


def test_programs_of_agents_are_refused_the_same() -> None:
    assert program_rules("import os") == ["language.import"]
    assert program_rules("def f(x):\n    return x.__class__") == ["language.dunder"]
    assert program_rules("def f(x):\n    return x") == []


def test_a_compiled_source_is_kept_by_its_content() -> None:
    assert compile_source(design("x = 1")) is compile_source(design("x = 1"))
    assert compile_source(design("x = 1")) is not compile_source(design("x = 2"))
