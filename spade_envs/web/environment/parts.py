"""All parts of an environment's pages by their names."""

from spade_envs.web.environment.admission import Admission, admission
from spade_envs.web.environment.alike import Alike, alike
from spade_envs.web.environment.changed import Changed, changed
from spade_envs.web.environment.code import Code, code
from spade_envs.web.environment.family import Family, family
from spade_envs.web.environment.happened import Happened, happened
from spade_envs.web.environment.measured import Measures, measures
from spade_envs.web.environment.overview import Overview, overview
from spade_envs.web.environment.spaces import Spaces, spaces

__all__ = [
    "Admission", "Alike", "Changed", "Code", "Family", "Happened", "Measures", "Overview", "Spaces",
    "admission", "alike", "changed", "code", "family", "happened", "measures", "overview", "spaces",
]  # fmt: skip
