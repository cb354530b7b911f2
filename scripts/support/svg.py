"""Line charts as SVG: enough for the pictures of docs/, with nothing to install. The same data gives the same file on every machine."""

import html
import math

# (light, dark), by role. Shapes and dashes tell the lines apart as well.
COLOURS = {
    "ground": ("#ffffff", "#0d1117"),
    "text": ("#1f2328", "#e6edf3"),
    "faint": ("#59636e", "#9198a1"),
    "grid": ("#d8dee4", "#30363d"),
    "ours": ("#0969da", "#58a6ff"),
    "rival": ("#bc4c00", "#f0883e"),
    "limit": ("#6e7781", "#8b949e"),
}


def _style():
    # No variables: not every viewer knows them.
    def rules(which):
        return "".join(
            f"text.{name},.fill.{name},.band.{name}{{fill:{colours[which]}}}.stroke.{name}{{stroke:{colours[which]}}}"
            for name, colours in COLOURS.items()
        )

    return (
        "text{font:12px system-ui,sans-serif}.head{font-weight:600;font-size:13px}.stroke{fill:none}.band{fill-opacity:.35}"
        f"{rules(0)}@media(prefers-color-scheme:dark){{{rules(1)}}}"
    )


def _number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


class Picture:
    """Pixels; `title` is what a screen reader says."""

    def __init__(self, width, height, title):
        self.width, self.height, self.title, self.parts = width, height, title, []

    def text(self, x, y, text, role="text", anchor="start", head=False, upward=False):
        turn = f' transform="rotate(-90 {_number(x)} {_number(y)})"' if upward else ""
        kind = f"{role} head" if head else role
        self.parts.append(f'<text class="{kind}" x="{_number(x)}" y="{_number(y)}" text-anchor="{anchor}"{turn}>{html.escape(text)}</text>')

    def line(self, points, role, width=1.0, dash=""):
        places = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<polyline class="stroke {role}" stroke-width="{_number(width)}"{dashes} points="{places}"/>')

    def band(self, points, role):
        places = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self.parts.append(f'<polygon class="band {role}" points="{places}"/>')

    def mark(self, x, y, role, shape="circle"):
        if shape == "circle":
            self.parts.append(f'<circle class="fill {role}" cx="{_number(x)}" cy="{_number(y)}" r="3"/>')
        else:
            self.parts.append(f'<rect class="fill {role}" x="{_number(x - 2.7)}" y="{_number(y - 2.7)}" width="5.4" height="5.4"/>')

    def legend(self, x, y, entries):
        """entries: (label, role, shape or "", dash); from left to right."""
        for label, role, shape, dash in entries:
            self.line([(x, y - 4), (x + 26, y - 4)], role, 2, dash)
            if shape:
                self.mark(x + 13, y - 4, role, shape)
            self.text(x + 32, y, label)
            x += 32 + 7 * len(label) + 24

    def render(self):
        ground = f'<rect class="fill ground" width="{self.width}" height="{self.height}" rx="6"/>'
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
                f'viewBox="0 0 {self.width} {self.height}" role="img">',
                f"<title>{html.escape(self.title)}</title>",
                f"<style>{_style()}</style>",
                ground,
                *self.parts,
                "</svg>",
                "",
            ]
        )


class Axis:
    """From values to pixels, linear or logarithmic; `ticks` are (value, label)."""

    def __init__(self, least, most, begin, end, ticks, logarithmic=False):
        self._of = math.log if logarithmic else float
        self._least, self._most = self._of(least), self._of(most)
        if self._most <= self._least:
            self._most = self._least + 1
        self.begin, self.end, self.ticks = begin, end, ticks

    def __call__(self, value):
        share = (self._of(value) - self._least) / (self._most - self._least)
        return self.begin + share * (self.end - self.begin)


def decade_ticks(least, most):
    """Powers of ten around a range of positive values: (least, most, ticks)."""
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    high = max(high, low + 1)
    labels = [(10.0**e, f"{10**e:,}" if e >= 0 else f"{10.0**e:g}") for e in range(low, high + 1)]
    return 10.0**low, 10.0**high, labels


def round_ticks(least, most, wanted=5):
    """Round steps around a range: (least, most, ticks)."""
    if most <= least:
        least, most = least - 1, most + 1
    rough = (most - least) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * s for s in (1, 2, 5, 10) if power * s >= rough * 0.999)
    first, last = math.floor(least / step + 1e-9), math.ceil(most / step - 1e-9)
    return first * step, last * step, [(i * step, f"{i * step:g}") for i in range(first, last + 1)]


def draw_frame(picture, x, y, title, y_label, x_label=""):
    """Grid, labels and title of a panel; `x` and `y` are its axes."""
    picture.text(x.begin, y.end - 10, title, head=True)
    for value, label in y.ticks:
        at = y(value)
        picture.line([(x.begin, at), (x.end, at)], "grid")
        picture.text(x.begin - 6, at + 4, label, "faint", "end")
    for value, label in x.ticks:
        at = x(value)
        picture.line([(at, y.begin), (at, y.begin + 4)], "grid")
        picture.text(at, y.begin + 17, label, "faint", "middle")
    picture.line([(x.begin, y.begin), (x.end, y.begin)], "faint")
    if y_label:
        picture.text(x.begin - 46, (y.begin + y.end) / 2, y_label, "faint", "middle", upward=True)
    if x_label:
        picture.text((x.begin + x.end) / 2, y.begin + 34, x_label, "faint", "middle")
