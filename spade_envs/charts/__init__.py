"""Charts as SVG text: values in, one picture out, the same for the same values.

A picture has no style attributes and no ids that another one has, its text is text in the page's own font, axes and
words have the colour of the text around it, and what is drawn in colour differs in its dashes, markers or hatches, too.
A graph has classes, whose colours are the page's.
"""

from spade_envs.charts.bars import Stack, funnel_chart, stacked_bars
from spade_envs.charts.graph import Box, graph
from spade_envs.charts.heat import heat_map
from spade_envs.charts.lines import Line, line_chart
from spade_envs.charts.palette import PALETTE
from spade_envs.charts.sparkline import sparkline

__all__ = [
    "PALETTE",
    "Box",
    "Line",
    "Stack",
    "funnel_chart",
    "graph",
    "heat_map",
    "line_chart",
    "sparkline",
    "stacked_bars",
]
