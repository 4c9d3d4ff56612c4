"""From matplotlib's SVG to one that a page with a strict content-security policy can hold, beside others."""

from __future__ import annotations

import re
from hashlib import sha256
from xml.etree import ElementTree as Tree

from spade_envs.charts.palette import INK

SVG = "http://www.w3.org/2000/svg"
_XLINK = "{http://www.w3.org/1999/xlink}href"
_DROPPED = {f"{{{SVG}}}metadata", f"{{{SVG}}}style"}
_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_MEASURES = ("d", "x", "y", "points", "transform", "width", "height")
_LINK = re.compile(r"(?<=#)\w+")

Tree.register_namespace("", SVG)


def page_svg(drawn: str, title: str, desc: str) -> str:
    """Return a picture without style attributes, style elements or ids that another picture may have.

    Args:
        drawn: SVG text as matplotlib writes it.
        title, desc: plain text for a screen reader.
    """
    root = Tree.fromstring(drawn)
    name = "c" + sha256("\0".join((title, desc, drawn)).encode()).hexdigest()[:10]
    _drop(root)
    for element in root.iter():
        _plain(element)
    _rename(root, name)
    _flatten(root)
    _describe(root, name, title, desc)
    return Tree.tostring(root, encoding="unicode")


def _drop(element: Tree.Element) -> None:
    """Take out what a policy forbids, or nobody reads."""
    for child in list(element):
        if child.tag in _DROPPED:
            element.remove(child)
        else:
            _drop(child)


def _plain(element: Tree.Element) -> None:
    """Turn styles into attributes, links into plain ones, the ink into the page's own colour; round measures."""
    for rule in element.attrib.pop("style", "").split(";"):
        name, _, value = rule.partition(":")
        if value and name.strip() != "font-family":  # the page's own
            element.set(name.strip(), value.strip())
    if _XLINK in element.attrib:
        element.set("href", element.attrib.pop(_XLINK))
    for name, value in element.attrib.items():
        if value == INK:
            element.set(name, "currentColor")
        elif name in _MEASURES:
            element.set(name, _NUMBER.sub(_rounded, value).replace("\n", "").replace("  ", " "))
    if element.text is not None and not element.text.strip():
        element.text = None
    element.tail = None


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")


def _rename(root: Tree.Element, name: str) -> None:
    """Keep the ids that something refers to, under a name of this picture's own."""
    links = {found for one in root.iter() for value in one.attrib.values() for found in _LINK.findall(value)}
    ids = {one.get("id", "") for one in root.iter()} & links
    new = {id_: f"{name}-{number}" for number, id_ in enumerate(sorted(ids))}
    for element in root.iter():
        id_ = element.attrib.pop("id", None)
        if id_ in new:
            element.set("id", new[id_])
        for attribute, value in element.attrib.items():
            if "#" in value:
                element.set(attribute, _LINK.sub(lambda found: new.get(found[0], found[0]), value))


def _flatten(element: Tree.Element) -> None:
    """Put what lies in a group that says nothing in its place: half of the text is such groups."""
    for child in list(element):
        _flatten(child)
        if child.tag == f"{{{SVG}}}g" and not child.attrib:
            at = list(element).index(child)
            element[at : at + 1] = list(child)
        elif child.tag == f"{{{SVG}}}defs" and not len(child):
            element.remove(child)


def _describe(root: Tree.Element, name: str, title: str, desc: str) -> None:
    """Say what the picture is, for a screen reader, and let the page decide how wide it is."""
    for at, (tag, text) in enumerate((("title", title), ("desc", desc))):
        element = Tree.Element(f"{{{SVG}}}{tag}", {"id": f"{name}-{tag}"})
        element.text = text
        root.insert(at, element)
    root.attrib |= {"class": "chart", "role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
    root.attrib |= {"stroke-linejoin": "round", "stroke-linecap": "butt", "fill": "currentColor"}
    for attribute in ("version", "width", "height"):
        root.attrib.pop(attribute, None)
