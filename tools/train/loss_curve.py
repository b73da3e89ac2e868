"""Loss curves as SVG."""

from xml.sax.saxutils import escape

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 52, 16, 34, 40
COLOURS = ("#1f6fb4", "#d1622b", "#3a8f4d", "#8452a8", "#7a6a58", "#c2457f")


def loss_curve(title, curves):
    """Returns SVG text. curves: (name, training losses of epochs 1 ..., [(epoch, validation loss)]), one color each;
    training losses are drawn solid, validation losses dashed. Losses that are not finite are omitted."""
    epochs = max(len(training) for _, training, _ in curves)
    finite = [
        y
        for _, training, validation in curves
        for y in (*training, *(v for _, v in validation))
        if abs(y) < float("inf")
    ]
    top = nice_ceiling(max(finite, default=1.0))

    def point(epoch, loss):
        x = LEFT + (epoch - 1) / max(epochs - 1, 1) * (WIDTH - LEFT - RIGHT)
        return f"{x:.1f},{HEIGHT - BOTTOM - loss / top * (HEIGHT - TOP - BOTTOM):.1f}"

    def line(points, style):
        path = " ".join(point(e, y) for e, y in points if abs(y) < float("inf"))
        return f'<polyline points="{path}" fill="none" stroke-width="1.5" {style}/>'

    parts = [text(LEFT, 18, title, "start"), text(WIDTH / 2, HEIGHT - 8, "epoch"), *axes(epochs, top)]
    for i, (name, training, validation) in enumerate(curves):
        colour = COLOURS[i % len(COLOURS)]
        parts.append(line(enumerate(training, 1), f'stroke="{colour}"'))
        parts.append(line(validation, f'stroke="{colour}" stroke-dasharray="5 3"'))
        parts.append(
            text(WIDTH - RIGHT - 4, TOP + 14 * (i + 1), f"{name}: training, validation dashed", "end", colour)
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="sans-serif" font-size="11">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def axes(epochs, top):
    """Returns lines and numbers at five positions of each axis."""
    for k in range(5):
        y = HEIGHT - BOTTOM - k / 4 * (HEIGHT - TOP - BOTTOM)
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>'
        yield text(LEFT - 6, y + 4, f"{top * k / 4:g}", "end")
        yield text(
            LEFT + k / 4 * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM + 15, f"{1 + (epochs - 1) * k / 4:.0f}"
        )


def text(x, y, words, anchor="middle", colour="#333"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'


def nice_ceiling(x):
    """Returns the next of 1, 2, 4, 8, 10 times a power of ten."""
    if x <= 0:
        return 1.0
    power = 10.0 ** (len(str(int(x))) - 1) if x >= 1 else 0.1
    while power > x:
        power /= 10
    return next(power * k for k in (1, 2, 4, 8, 10, 20) if power * k >= x)
