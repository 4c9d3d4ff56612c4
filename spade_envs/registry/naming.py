"""Which of the ids that there are a text names."""

from __future__ import annotations

from collections.abc import Collection

from spade_envs.contract.findings import Finding
from spade_envs.contract.ids import NAMESPACE, EnvId, near_ids, with_namespace
from spade_envs.errors import UnknownEnvironment


def named(text: str, held: Collection[EnvId], subject: str = "no registry holds") -> EnvId:
    """Return the id that a text names, as people write it: without a version, the newest.

    Args:
        text: for example ``"spade/LampRow-v0"``, ``"spade/LampRow"`` or ``"LampRow"``.
        held: the ids that there are.
        subject: how the message begins.

    Raises:
        UnknownEnvironment: it is none of them. The message names near ones.
    """
    whole = with_namespace(text)
    parsed = EnvId.parse(whole)
    of_name = [one for one in held if f"{NAMESPACE}/{one.name}" == whole]
    found = max(of_name, default=None) if isinstance(parsed, Finding) else parsed
    if found is not None and found in held:
        return found
    near = " or ".join(map(str, near_ids(text, held)))
    advice = f"did you mean {near}?" if near else "`spade-envs list` shows what there is"
    raise UnknownEnvironment(f"{subject} {text!r}; {advice}")
