"""Output of the examples: a progress bar, charts and digits in the terminal, and a PNG."""

import shutil
import sys
import time

import numpy as np

WIDTH, HEIGHT = 60, 8
SHADES = " ░▒▓█"
BRAILLE = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # bit of each dot
TRAIN, TEST, DIM, GOOD, BAD = "36", "33", "2", "32", "31"

for stream in (sys.stdout, sys.stderr):
    stream.reconfigure(errors="replace")  # an old terminal shows "?" instead of raising


def paint(text, colour):
    """`text` in an ANSI colour; unchanged if the output is not a terminal."""
    return f"\x1b[{colour}m{text}\x1b[0m" if sys.stdout.isatty() else text


class Progress:
    """A progress bar, redrawn at most ten times a second; in a log, drawn once."""

    def __init__(self, total, width=32):
        self.total, self.width = total, width
        self.done, self.start, self.drawn = 0, time.perf_counter(), 0.0
        self.pause = 0.1 if sys.stderr.isatty() else float("inf")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        print("\n", file=sys.stderr)

    def advance(self, text):
        self.done += 1
        now = time.perf_counter()
        if now - self.drawn < self.pause and self.done < self.total:
            return
        self.drawn = now
        eighths = round(self.done / self.total * self.width * 8)
        full, part = divmod(eighths, 8)
        bar = ("█" * full + " ▏▎▍▌▋▊▉"[part] * (part > 0)).ljust(self.width)
        speed = self.done / (now - self.start)
        line = f"{bar}▕ {self.done / self.total:4.0%}  {text}  {speed:,.0f} steps/s"
        columns = shutil.get_terminal_size().columns - 1
        print("\r" + line[:columns].ljust(columns), end="", file=sys.stderr, flush=True)


def chart(title, train, test):
    """Print two curves in braille characters, with the range of values on the left."""
    low, high = min(*train, *test), max(*train, *test)
    span = (high - low) or 1.0
    legend = f"{paint('train', TRAIN)}  {paint('test', TEST)}"
    print(f"  {title:<10} {legend}   {paint(f'{len(train)} epochs', DIM)}")
    curves = [(train, TRAIN), (test, TEST)]
    layers = [(raster((np.array(curve) - low) / span), colour) for curve, colour in curves]
    for row in range(HEIGHT):
        label = {0: f"{high:.3f}", HEIGHT - 1: f"{low:.3f}"}.get(row, "")
        cells = "".join(cell(layers, row, column) for column in range(WIDTH))
        print(f"  {label:>7} {paint('│', DIM)}{cells}")
    print(f"  {'':7} {paint('└' + '─' * WIDTH, DIM)}\n")


def raster(curve):
    """The braille code of each character cell for a curve with values in [0, 1]."""
    dots = np.zeros((4 * HEIGHT, 2 * WIDTH), int)
    columns = np.arange(2 * WIDTH)
    heights = np.interp(columns, np.linspace(0, 2 * WIDTH - 1, len(curve)), curve)
    rows = np.rint((1 - heights) * (4 * HEIGHT - 1)).astype(int)
    for column, (current, following) in enumerate(
        zip(rows, np.append(rows[1:], rows[-1]), strict=True)
    ):
        dots[min(current, following + 1) : max(current, following - 1) + 1, column] = 1
    return (dots.reshape(HEIGHT, 4, WIDTH, 2) * BRAILLE[:, None, :]).sum(axis=(1, 3))


def cell(layers, row, column):
    """One character: the dots of all curves, in the colour of the last curve with dots here."""
    code, colour = 0, DIM
    for codes, own in layers:
        if codes[row, column]:
            code, colour = code | codes[row, column], own
    return paint(chr(0x2800 + code), colour) if code else " "


def digits(images, guesses, labels):
    """Print a row of 8 × 8 images in shades of grey, with the predictions below them."""
    for line in np.rint(images.reshape(-1, 8, 8) * 4).astype(int).transpose(1, 0, 2):
        print("  " + "  ".join("".join(SHADES[v] for v in row) for row in line))
    answers = []
    for guess, label in zip(guesses, labels, strict=True):
        right = guess == label
        text = f"{guess}" if right else f"{guess} (not {label})"
        answers.append(paint(f"{text:^8}", GOOD if right else BAD))
    print("  " + "  ".join(answers) + "\n")


def save_png(path, history):
    """Draw the same two charts with matplotlib."""
    try:
        import matplotlib
    except ImportError:
        sys.exit("The plot needs matplotlib: pip install 'gradtape[viz]', or pass --no-plot.")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for axis, name in zip(axes, ("loss", "accuracy"), strict=True):
        for data, style in (("train", "-"), ("test", "--")):
            values = history[f"{data} {name}"]
            axis.plot(range(1, len(values) + 1), values, style, marker=".", label=data)
        axis.set(title=name, xlabel="epoch")
        axis.grid(alpha=0.3)
        axis.legend()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
