"""The process of one episode of BFCL: requests and answers as lines of JSON. Its own output goes nowhere."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

NAME = "spade"


def main() -> None:
    """Answer until the pipe ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    entry: dict[str, Any] = {}
    for line in sys.stdin:
        message = json.loads(line)
        if message["do"] == "begin":
            entry = message["entry"]
        answers.write(json.dumps({"answer": _answer(message, entry)}) + "\n")
        answers.flush()


def _answer(message: Mapping[str, Any], entry: Mapping[str, Any]) -> Any:
    if message["do"] == "call":
        return _call(message["calls"], entry)
    return _judge(message["said"], entry) if message["do"] == "judge" else None


def _call(calls: list[str], entry: Mapping[str, Any]) -> list[str]:
    from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils import execute_multi_turn_func_call

    answers, _ = execute_multi_turn_func_call(
        func_call_list=calls,
        initial_config=entry["initial_config"],
        involved_classes=entry["involved_classes"],
        model_name=NAME,
        test_entry_id=entry["id"],
        long_context="long_context" in entry["id"],
    )
    return [str(one) for one in answers]


def _judge(said: list[list[list[str]]], entry: Mapping[str, Any]) -> bool:
    from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_checker as checker

    truth = entry["ground_truth"]
    category = entry["id"].rsplit("_", 1)[0]
    try:
        return bool(checker.multi_turn_checker(said, truth, dict(entry), category, NAME)["valid"])
    except Exception:  # a judge that breaks at what was said has not found it right
        return False


if __name__ == "__main__":
    main()
