"""Grouped bar charts as SVG, without dependencies. The same input gives the same bytes."""

from xml.sax.saxutils import escape

WIDTH = 760
LEFT, RIGHT, TOP, BASE = 56, 16, 76, 268  # the plot area; BASE is the y coordinate of zero
# distinguishable with color vision deficiencies
GREY, ORANGE, BLUE, GREEN = "#9aa5b1", "#e69f00", "#0072b2", "#009e73"
COLOURS = {2: (GREY, BLUE), 3: (GREY, ORANGE, BLUE), 4: (GREY, ORANGE, BLUE, GREEN)}  # by number of series
CAPTION, CAPTION_LINE = 44, 16  # distance of the caption from the plot, and of its lines


def _text(x, y, words, size=13, anchor="start", colour="#1f2933", extra=""):
    style = f'font-size="{size}" text-anchor="{anchor}" fill="{colour}"'
    return f'<text x="{x:g}" y="{y:g}" {style}{extra}>{escape(words)}</text>'


def _step(top):
    """Returns the distance between grid lines that divides the range up to top into at most six parts."""
    return next(step for step in (0.25, 0.5, 1, 2, 5, 10, 20, 50) if top / step <= 6)


def _axis(top, label):
    parts = []
    step = _step(top)
    for line in range(int(top / step) + 1):
        y = BASE - (BASE - TOP) * line * step / top
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#d9dee3"/>')
        parts.append(_text(LEFT - 8, round(y + 4, 1), f"{line * step:g}", 12, "end", "#52606d"))
    middle = (TOP + BASE) / 2
    parts.append(_text(16, middle, label, 12, "middle", "#52606d", f' transform="rotate(-90 16 {middle:g})"'))
    return parts


def _legend(names):
    parts, x = [], LEFT
    for name, colour in zip(names, COLOURS[len(names)], strict=True):
        parts.append(f'<rect x="{x:g}" y="42" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(x + 18, 53, name))
        x += 18 + 7 * len(name) + 24
    return parts


def _bars(groups, top, digits):
    parts = []
    pitch = (WIDTH - RIGHT - LEFT) / len(groups)
    for place, (label, values) in enumerate(groups):
        width = min(44, pitch * 0.82 / len(values))
        present = [
            (value, colour) for value, colour in zip(values, COLOURS[len(values)], strict=True) if value is not None
        ]
        x = LEFT + pitch * (place + 0.5) - width * len(present) / 2
        for value, colour in present:
            height = (BASE - TOP) * value / top
            parts.append(
                f'<rect x="{x:.1f}" y="{BASE - height:.1f}" width="{width - 2:.1f}" height="{height:.1f}"'
                f' fill="{colour}"/>'
            )
            parts.append(
                _text(round(x + width / 2 - 1, 1), round(BASE - height - 5, 1), f"{value:.{digits}f}", 11, "middle")
            )
            x += width
        parts.append(_text(round(LEFT + pitch * (place + 0.5), 1), BASE + 19, label, 12.5, "middle"))
    return parts


def bar_chart(title, axis, series, groups, caption, digits=2):
    """Returns a bar chart as SVG.

    series: names of the bars of a group, in order, two to four. groups: pairs of a label and one value per series
    (None: no bar). caption: lines below the plot. digits: decimals of the values above the bars.
    """
    assert groups and len(series) in COLOURS
    assert all(len(values) == len(series) for _, values in groups)
    top = 1.12 * max(value for _, values in groups for value in values if value is not None)
    lines = [
        _text(LEFT, BASE + CAPTION + CAPTION_LINE * place, line, 12, colour="#52606d")
        for place, line in enumerate(caption)
    ]
    height = BASE + CAPTION + CAPTION_LINE * len(caption)
    body = [
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(LEFT, 26, title, 16, extra=' font-weight="600"'),
        *_legend(series),
        *_axis(top, axis),
        *_bars(groups, top, digits),
        *lines,
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        ' role="img"'
        " font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif\">\n"
        f"<title>{escape(title)}</title>\n<desc>{escape(' '.join(caption))}</desc>\n" + "\n".join(body) + "\n</svg>\n"
    )
