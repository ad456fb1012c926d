"""curves.py: bytes over quality, for the scripts that compare programs: bytes at equal quality, and plots.

A curve is a list of points, each of them (bytes, quality). Only the points at which no other point is smaller and
better count for ratios; between them, the logarithm of the bytes is taken as linear in the quality.
"""
import html, math

COLORS = ["#d2452d", "#3b6ea5", "#4f9a54", "#8a5ba6", "#b58a2a", "#5d6b78"]


def front(points):
    """The points that no other point beats in both bytes and quality, by rising quality."""
    best = []
    for count, quality in sorted(points, key=lambda point: (point[0], -point[1])):
        if not best or quality > best[-1][1]:
            best.append((count, quality))
    return best


def logarithm(curve, quality):
    """The logarithm of the bytes that a curve takes for this quality."""
    for (one, low), (other, high) in zip(curve, curve[1:]):
        if low <= quality <= high:
            share = (quality - low) / (high - low)
            return math.log(one) * (1 - share) + math.log(other) * share
    return math.log(curve[0][0])


def ratio(ours, theirs, steps=100):
    """Our bytes divided by theirs at equal quality, as the geometric mean over the qualities that both curves reach.
    None if they have no quality in common."""
    one, other = front(ours), front(theirs)
    if not one or not other:
        return None
    low, high = max(one[0][1], other[0][1]), min(one[-1][1], other[-1][1])
    if low > high:
        return None
    levels = [low + (high - low) * step / steps for step in range(steps + 1)]
    return math.exp(sum(logarithm(one, q) - logarithm(other, q) for q in levels) / len(levels))


def verdict(ours, theirs):
    """The ratio as text. Without a common quality, says whose pictures are better and how the bytes compare."""
    found = ratio(ours, theirs)
    if found is not None:
        return f"{found:.3f}"
    one, other = front(ours), front(theirs)
    if not one or not other:
        return "-"
    if one[0][1] > other[-1][1]:
        return f"always better, at {one[0][0] / other[-1][0]:.3f}"
    return f"always worse, at {one[-1][0] / other[0][0]:.3f}"


def number(value):
    return f"{value / 1e6:.3g} MB" if value >= 1e6 else f"{value / 1e3:.3g} kB"


def marks(low, high):
    """Round numbers between two bounds."""
    step = 10 ** math.floor(math.log10((high - low) / 2)) if high > low else 1
    step *= next((factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= 5), 10)
    return [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def chart(title, curves, left, top, width, height, colors):
    points = [point for curve in curves.values() for point in curve]
    lows = math.log(min(p[0] for p in points)), min(p[1] for p in points)
    highs = math.log(max(p[0] for p in points)), max(p[1] for p in points)
    if highs[0] - lows[0] < 0.1: lows, highs = (lows[0] - 0.05, lows[1]), (highs[0] + 0.05, highs[1])
    if highs[1] - lows[1] < 1e-4: lows, highs = (lows[0], lows[1] - 1e-4), (highs[0], highs[1] + 1e-4)
    def x(quality): return left + (quality - lows[1]) / (highs[1] - lows[1]) * width
    def y(count): return top + (highs[0] - math.log(count)) / (highs[0] - lows[0]) * height
    lines = [f'<text class="title" x="{left}" y="{top - 12}">{html.escape(title)}</text>',
             f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#c9d1d9"/>']
    for quality in marks(lows[1], highs[1]):
        lines.append(f'<path d="M{x(quality):.1f} {top}v{height}" stroke="#eaeef2"/>'
                     f'<text x="{x(quality):.1f}" y="{top + height + 16}" text-anchor="middle">{quality:.4g}</text>')
    for share in (0, 0.5, 1):
        count = math.exp(lows[0] + (highs[0] - lows[0]) * share)
        lines.append(f'<text x="{left - 6}" y="{y(count) + 4:.1f}" text-anchor="end">{number(count)}</text>')
    for name, curve in curves.items():
        path = " ".join(f"{x(quality):.1f},{y(count):.1f}" for count, quality in front(curve))
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colors[name]}" stroke-width="2"/>')
        lines += [f'<circle cx="{x(quality):.1f}" cy="{y(count):.1f}" r="3" fill="{colors[name]}"/>'
                  for count, quality in curve]
    return lines


def plot(path, charts, quality):
    """Writes an SVG. `charts` has a dictionary of curves for each title; a program has one colour in all of them."""
    names = list(dict.fromkeys(name for curves in charts.values() for name in curves))
    colors = {name: COLORS[i % len(COLORS)] for i, name in enumerate(names)}
    columns, width, height, left, top = min(len(charts), 3), 260, 170, 76, 70
    across, down = width + 100, height + 70
    total = columns * across, top + math.ceil(len(charts) / max(columns, 1)) * down
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{total[0]}" height="{total[1]}" role="img">',
             f"<title>Bytes over {html.escape(quality)}</title>",
             "<style>text { font: 12px sans-serif; fill: #24292f } .title { font-weight: bold }</style>",
             f'<rect width="{total[0]}" height="{total[1]}" fill="#ffffff"/>',
             f'<text x="10" y="20">Bytes over {html.escape(quality)}: lower and further right is better</text>']
    at = 10
    for name in names:
        lines.append(f'<rect x="{at}" y="30" width="10" height="10" fill="{colors[name]}"/>'
                     f'<text x="{at + 14}" y="40">{html.escape(name)}</text>')
        at += 34 + 7 * len(name)
    for index, (title, curves) in enumerate(charts.items()):
        at = left + index % columns * across, top + index // columns * down
        lines += chart(title, curves, *at, width, height, colors)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines + ["</svg>"]) + "\n")
