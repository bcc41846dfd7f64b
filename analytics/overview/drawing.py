"""Bars as SVG. They are written here, not in the template: its loops take many times as long over hundreds of them."""

from django.utils.safestring import SafeString

from analytics.calc.charts import Columns


def bars(drawn: Columns) -> SafeString:
    """A rectangle a part; series are names of ours and places are numbers, so there is nothing to escape."""
    return SafeString(
        "".join(
            f'<rect class="bar s-{part.series}" x="{part.x}%" y="{part.y}" width="{part.width}%" '
            f'height="{part.height}" rx="1.5"/>'
            for column in drawn.columns
            for part in column.segments
        )
    )
