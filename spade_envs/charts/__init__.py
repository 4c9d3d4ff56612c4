"""Charts as SVG text: values in, one picture out, the same for the same values.

A picture has no style attributes and no ids that another one has, its text is text in the page's own font, axes and
words have the colour of the text around it, and what is drawn in colour differs in its dashes, markers or hatches, too.
"""

from spade_envs.charts.bars import Stack, funnel_chart, stacked_bars
from spade_envs.charts.heat import heat_map
from spade_envs.charts.lines import Line, line_chart
from spade_envs.charts.palette import PALETTE
from spade_envs.charts.sparkline import sparkline

__all__ = [
    "PALETTE",
    "Line",
    "Stack",
    "funnel_chart",
    "heat_map",
    "line_chart",
    "sparkline",
    "stacked_bars",
]
