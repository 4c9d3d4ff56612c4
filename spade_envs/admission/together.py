"""The designs of one block: judged side by side, settled one after the other, in their order.

All are compared with what stood there before the first was judged, and settling looks at what came since; so the
outcome depends on the order of the designs alone, and not on which verdict is known first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from spade_envs.admission.admit import Admission, duplicate, settle, surroundings
from spade_envs.admission.evidence import Surroundings
from spade_envs.admission.many import judge_many
from spade_envs.admission.neighbours import shown as as_neighbours
from spade_envs.admission.report import Report
from spade_envs.admission.settings import Settings
from spade_envs.errors import SpadeError
from spade_envs.registry.store import Registry


class Panel:
    """Admission of many designs of one run and round; repeated, it gives each its own version back.

    Args:
        registry: where admitted designs are written.
        run: the run that made them.
        round: the round of that run.
        document: the text that they were made from; long copies of it are refused.
        settings: how much is played, and the limits.
        provenance: JSON-ready: how they were made, kept in their reports.
        shown: sources that their designer was shown and no registry holds; copies of them are refused.
    """

    def __init__(
        self,
        registry: Registry,
        *,
        run: str | None = None,
        round: int | None = None,
        document: str | None = None,
        settings: Settings = Settings(),  # noqa: B008 (frozen)
        provenance: Mapping[str, Any] | None = None,
        shown: Sequence[str] = (),
    ) -> None:
        self._registry, self._run, self._round, self._settings = registry, run, round, settings
        self._document, self._provenance = document, provenance
        self._compared = surroundings(registry, Surroundings(neighbours=as_neighbours(shown)))

    def judge(self, sources: Sequence[str], jobs: int | None = None) -> list[Report | Admission]:
        """Return for each source the report on it, or what became of it at once where its code is known.

        Args:
            sources: whole files.
            jobs: how many are judged at once; as many as there are cores where missing.

        Raises:
            IsolationError: this machine could not judge one of them.
        """
        verdicts: list[Report | Admission | None] = [self._known(source) for source in sources]
        new = [place for place, verdict in enumerate(verdicts) if verdict is None]
        around = replace(self._compared, document=self._document)
        options = {"settings": self._settings, "around": around}
        for at, verdict in judge_many([sources[place] for place in new], jobs=jobs, **options):
            if isinstance(verdict, SpadeError):
                raise verdict
            verdicts[new[at]] = verdict
        return [verdict for verdict in verdicts if verdict is not None]

    def settle(
        self,
        sources: Sequence[str],
        verdicts: Sequence[Report | Admission],
        provenances: Sequence[Mapping[str, Any] | None] | None = None,
    ) -> list[Admission]:
        """Do what the verdicts say, in order: write what is admitted, keep what is refused.

        Args:
            sources: whole files.
            verdicts: what :meth:`judge` said of them.
            provenances: how each was made, where that is not the same for all.

        Raises:
            RegistryError: the registry cannot be written.
        """
        return [
            verdict if isinstance(verdict, Admission) else self._settled(source, verdict, provenance)
            for source, verdict, provenance in zip(
                sources, verdicts, provenances or [self._provenance] * len(sources), strict=True
            )
        ]

    def _known(self, source: str) -> Admission | None:
        return duplicate(source, self._registry, self._run, self._round)

    def _settled(self, source: str, report: Report, provenance: Mapping[str, Any] | None) -> Admission:
        return settle(
            source,
            report,
            self._registry,
            run=self._run,
            round=self._round,
            compared=self._compared,
            provenance=provenance,
        )
