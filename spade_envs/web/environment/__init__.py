"""One environment, part by part."""

from spade_envs.web.environment.routes import pages

__all__ = ["pages"]
