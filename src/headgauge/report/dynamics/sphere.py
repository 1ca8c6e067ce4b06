"""Particles on the 2-sphere, a panel for each scheme, as a moving picture."""

import math
from pathlib import Path

import numpy as np
import polars as pl
from jaxtyping import Float
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from headgauge.atomic import one_line, whole_file
from headgauge.errors import InputError
from headgauge.report.drawing import Drawing
from headgauge.report.dynamics.ball import Ball, Camera, camera_at
from headgauge.report.dynamics.looks import schemes_in
from headgauge.report.dynamics.selecting import setup_words
from headgauge.report.figure_files import house_style
from headgauge.report.paper.looks import TYPE
from headgauge.report.paper.page import small_print
from headgauge.report.paper.selecting import printable
from headgauge.report.sheet import FAINT, wrapped

PANELS = 6  # the baseline is the seventh, and left out
FRAMES = 80  # at the most; more would only make the file larger
_COLUMNS = 3
_DOTS = 100  # per inch: 900 pixels across
_WIDTH = 9.0
_HEAD, _TITLE, _RADIUS, _EDGE = 0.4, 0.28, 0.2, 0.1
_SMALL = 8.5  # points
_MILLISECONDS, _LAST_MILLISECONDS = 90, 2500
_TURN, _TILT = math.radians(75), math.radians(20)  # how far the camera goes, how high it is
_TRAIL = 8  # frames
_PAPER = 245  # nothing that is drawn is lighter


def sphere_gif(sphere: pl.DataFrame, caption: str, path: Path) -> Path:
    """Every scheme from the same places, at the same time in each frame."""
    if sphere.is_empty():
        raise InputError("no particles to animate: the table sphere is empty; run the simulation")
    with house_style(), rc_context(TYPE):
        pictures = _in_one_palette(_draw(sphere, caption))
    durations = [_MILLISECONDS] * (len(pictures) - 1) + [_LAST_MILLISECONDS]
    with one_line(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as part:
        how = {"save_all": True, "append_images": pictures[1:], "duration": durations, "loop": 0}
        pictures[0].save(part, format="GIF", **how)
    return path


def sphere_figure(sphere: pl.DataFrame, caption: str) -> Figure:
    """Where the particles are in the end, and the trails they came on."""
    schemes = schemes_in(sphere)[:PANELS]
    times = _shown(sphere["time"].unique().sort().to_list())
    figure, panels = _open(len(schemes), small_print(caption, _words(sphere)))
    tracks = [_track(sphere.filter(scheme=scheme), times) for scheme in schemes]
    camera = _cameras(np.mean([places[-1] for places, _ in tracks], axis=(0, 1)), len(times))[-1]
    for axes, scheme, (places, radii) in zip(panels, schemes, tracks, strict=True):
        ball = Ball(axes, scheme)
        ball.move(places[-_TRAIL - 1 :], float(radii[-1]), camera)
        ball.stay()
    middle = 1 - _HEAD / 2 / figure.get_size_inches()[1]
    figure.text(0.5, middle, f"t = {times[-1]:.2f}", fontsize=14, ha="center", va="center")
    return figure


def _draw(sphere: pl.DataFrame, caption: str) -> list[Image.Image]:
    schemes = schemes_in(sphere)[:PANELS]
    times = _shown(sphere["time"].unique().sort().to_list())
    figure, panels = _open(len(schemes), small_print(caption, _words(sphere)))
    balls = [Ball(*pair) for pair in zip(panels, schemes, strict=True)]
    tracks = [_track(sphere.filter(scheme=scheme), times) for scheme in schemes]
    cameras = _cameras(np.mean([places[-1] for places, _ in tracks], axis=(0, 1)), len(times))
    middle = 1 - _HEAD / 2 / figure.get_size_inches()[1]
    clock = figure.text(0.5, middle, "", fontsize=14, ha="center", va="center")
    clock.set_animated(True)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    still = canvas.copy_from_bbox(figure.bbox)
    pictures = []
    for frame, time in enumerate(times):
        canvas.restore_region(still)
        clock.set_text(f"t = {time:.2f}")
        figure.draw_artist(clock)
        for ball, (places, radii) in zip(balls, tracks, strict=True):
            trail = places[max(0, frame - _TRAIL) : frame + 1]
            ball.move(trail, float(radii[frame]), cameras[frame])
            ball.draw()
        pictures.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy()))
    return pictures


def _open(panels: int, small: str) -> tuple[Figure, list[Axes]]:
    """Square panels in rows of three at most, the time above them, small print at the foot."""
    lines = wrapped(printable(small), _WIDTH - 2 * _EDGE, _SMALL)
    columns, side = min(panels, _COLUMNS), _WIDTH / _COLUMNS - 0.2
    rows = math.ceil(panels / columns)
    foot = 2 * _EDGE + 0.15 * len(lines)
    row_height = _TITLE + side + _RADIUS
    height = _HEAD + rows * row_height + foot
    figure = Drawing(figsize=(_WIDTH, height), dpi=_DOTS)
    how = {"fontsize": _SMALL, "color": FAINT, "parse_math": False}
    figure.text(_EDGE / _WIDTH, _EDGE / height, "\n".join(lines), **how)
    boxes = []
    for place in range(panels):
        row, column = divmod(place, columns)
        middle = _WIDTH * (column + 0.5) / columns
        bottom = height - _HEAD - row * row_height - _TITLE - side
        box = (middle - side / 2) / _WIDTH, bottom / height, side / _WIDTH, side / height
        boxes.append(figure.add_axes(box))
    return figure, boxes


def _words(sphere: pl.DataFrame) -> str:
    particles = sphere["particle"].n_unique()
    return f"{particles} particles, {setup_words(sphere)}; pale dots are on the far side"


def _shown(times: list[float]) -> list[float]:
    """The first and the last and what lies evenly between them."""
    places = np.linspace(0, len(times) - 1, min(len(times), FRAMES)).round().astype(int)
    return [times[place] for place in places]


def _track(
    rows: pl.DataFrame, times: list[float]
) -> tuple[Float[np.ndarray, "frames particles 3"], Float[np.ndarray, " frames"]]:
    """Where the particles of a scheme are in each frame, and their mean radius."""
    shown = rows.filter(pl.col("time").is_in(times)).sort("time", "particle")
    places = shown.select("x", "y", "z").to_numpy().reshape(len(times), -1, 3)
    return places, shown["radius"].to_numpy().reshape(len(times), -1).mean(axis=1)


def _cameras(end: Float[np.ndarray, "3"], frames: int) -> list[Camera]:
    """Slowly around, and at the end where the particles have gathered is in front."""
    last = math.atan2(end[1], end[0]) + 0.4
    tilt = math.copysign(_TILT, end[2])
    return [camera_at(azimuth, tilt) for azimuth in np.linspace(last - _TURN, last, frames)]


def _in_one_palette(pictures: list[Image.Image]) -> list[Image.Image]:
    """With a palette for each the shading would flicker, and nothing could stay as it was."""
    ends = [pictures[0], pictures[len(pictures) // 2], pictures[-1]]
    together = Image.fromarray(np.concatenate([np.asarray(picture) for picture in ends]))
    palette = together.quantize(255, method=Image.Quantize.MEDIANCUT)
    colours = np.array(palette.getpalette()).reshape(-1, 3)
    colours[colours.min(axis=1) > _PAPER] = 255  # else the paper is a grey that is nearly white
    palette.putpalette(colours.flatten().tolist())
    return [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
