"""The files that pages are made of besides their text: read once, kept in memory, named by what they hold."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, HTTPException, Response

FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Asset:
    """One file.

    Attributes:
        path: its address.
    """

    path: str
    data: bytes
    media_type: str


class Assets:
    """All files of some folders, by their name below them; a later folder's takes the place of an earlier one's."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._assets = {
            file.relative_to(folder).as_posix(): _read(file, file.relative_to(folder).as_posix())
            for folder in folders
            for file in sorted(folder.rglob("*"))
            if file.is_file()
        }

    def address(self, name: str) -> str:
        """Return where a page finds a file. Raises KeyError where there is none."""
        return self._assets[name].path

    def router(self) -> APIRouter:
        """Return the addresses of all files."""
        router = APIRouter(include_in_schema=False)

        @router.get("/static/{name:path}")
        async def static(name: str) -> Response:
            asset = self._assets.get(name)
            if asset is None:
                raise HTTPException(404, "there is no such file")
            return Response(asset.data, media_type=asset.media_type, headers={"Cache-Control": FOR_EVER})

        return router


def _read(file: Path, name: str) -> Asset:
    data = file.read_bytes()
    version = hashlib.sha256(data).hexdigest()[:12]
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Asset(f"/static/{name}?v={version}", data, kind)
