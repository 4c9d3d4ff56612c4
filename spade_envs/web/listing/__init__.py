"""The index: all environments, found by words and facets."""

from spade_envs.web.listing.routes import pages

__all__ = ["pages"]
