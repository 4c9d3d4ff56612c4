"""Pages of training runs for ``spade-envs serve``: lists, live pages, comparisons, reports, episodes."""

from spade_train.web.routes import pages

__all__ = ["pages"]
