"""Pages to browse and play environments in, on this machine; needs the extra ``web``.

``create_app`` gives the application, ``spade-envs serve`` runs it. Other packages add pages through the entry point
group ``spade_envs.web``: see :class:`spade_envs.web.pages.Pages`.
"""

from spade_envs.web.app import create_app
from spade_envs.web.pages import Link, Pages
from spade_envs.web.respond import Problem, answer, problem
from spade_envs.web.settings import Rate, WebSettings

__all__ = ["Link", "Pages", "Problem", "Rate", "WebSettings", "answer", "create_app", "problem"]
