"""Particles on the 2-sphere, a panel for each scheme, as a moving picture or as they end.

A camera is three unit rows: to the right, upwards, towards the eye. Seen from far away, so that a
point is where its first two products are, and in front where the third is positive.
"""

import math
from pathlib import Path

import numpy as np
import polars as pl
from jaxtyping import Float
from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from PIL import Image

from headgauge.atomic import one_line, whole_file
from headgauge.errors import InputError
from headgauge.registry.names import SCHEMES
from headgauge.report.drawing import Drawing
from headgauge.report.drawing_text import FAINT, printable, wrapped
from headgauge.report.dynamics.words import schemes_in, setup_words
from headgauge.report.figure_files import TYPE, house_style

Camera = Float[np.ndarray, "3 3"]
Places = Float[np.ndarray, "frames particles 3"]

PANELS = 6  # the baseline is the seventh, and left out
_COLUMNS = 3
_DOTS = 100  # per inch: 900 pixels across
_WIDTH, _SIDE = 9.0, 2.8
_HEAD, _TITLE, _RADIUS, _EDGE = 0.4, 0.28, 0.2, 0.1
_SMALL = 8.5  # points
_MILLISECONDS, _LAST_MILLISECONDS = 90, 2500
_TURN, _TILT = math.radians(75), math.radians(20)  # how far the camera goes, how high it is
_TRAIL = 8  # frames
_PAPER = 245  # nothing that is drawn is lighter
_LIGHT = (-0.45, 0.55, 0.70)  # from where, in the camera's terms
_SHADES = 14  # few: a picture in which nothing moves there stays small
_DARKEST, _LIGHTEST = 0.76, 0.95
_PALE = 0.35  # of its colour is left of a particle on the far side
_PIXELS = 320
_GRID = "#BDBDBD"


def words(sphere: pl.DataFrame, run: str) -> str:
    """The small print."""
    told = f"{sphere['particle'].n_unique()} particles, {setup_words(sphere)}"
    return f"{run}; {told}; pale dots are on the far side."


def sphere_gif(sphere: pl.DataFrame, small: str, path: Path) -> Path:
    """Every scheme from the same places, at the same time in each frame."""
    if sphere.is_empty():
        raise InputError("no particles to animate: the table sphere is empty; run the simulation")
    with house_style(), rc_context(TYPE):
        scene = _Scene(sphere, small)
        canvas = FigureCanvasAgg(scene.figure)
        canvas.draw()
        still = canvas.copy_from_bbox(scene.figure.bbox)
        pictures = []
        for frame in range(len(scene.times)):
            canvas.restore_region(still)
            scene.move(frame)
            for artist in scene.moving:
                scene.figure.draw_artist(artist)
            pictures.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy()))
    pictures = _in_one_palette(pictures)
    durations = [_MILLISECONDS] * (len(pictures) - 1) + [_LAST_MILLISECONDS]
    how = {"save_all": True, "append_images": pictures[1:], "duration": durations, "loop": 0}
    with one_line(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as part:
        pictures[0].save(part, format="GIF", **how)
    return path


def sphere_figure(sphere: pl.DataFrame, run: str) -> Figure:
    """Where the particles are in the end, and the trails they came on; small print if there is a
    run to name."""
    with house_style(), rc_context(TYPE):
        scene = _Scene(sphere, words(sphere, run) if run else "")
        scene.move(len(scene.times) - 1)
        for artist in scene.moving:
            artist.set_animated(False)
    return scene.figure


class _Scene:
    """What stands still is drawn once, what moves is put in its place by `move`."""

    def __init__(self, sphere: pl.DataFrame, small: str) -> None:
        schemes = schemes_in(sphere)[:PANELS]
        self.times = sphere["time"].unique().sort().to_list()
        self.figure, panels = _empty_figure(len(schemes), small)
        self._panels = [_Panel(*pair) for pair in zip(panels, schemes, strict=True)]
        self._tracks = [_track(sphere.filter(scheme=scheme)) for scheme in schemes]
        # Slowly around, and at the end where the particles have gathered is in front.
        end = np.mean([places[-1] for places, _ in self._tracks], axis=(0, 1))
        last = math.atan2(end[1], end[0]) + 0.4
        self._tilt = math.copysign(_TILT, end[2])
        self._azimuths = np.linspace(last - _TURN, last, len(self.times))
        middle = 1 - _HEAD / 2 / self.figure.get_size_inches()[1]
        self._clock = self.figure.text(0.5, middle, "", fontsize=14, ha="center", va="center")
        self.moving: list[Artist] = [self._clock]
        self.moving += [artist for panel in self._panels for artist in panel.moving]
        for artist in self.moving:
            artist.set_animated(True)

    def move(self, frame: int) -> None:
        self._clock.set_text(f"t = {self.times[frame]:.2f}")
        camera = camera_at(self._azimuths[frame], self._tilt)
        for panel, (places, radii) in zip(self._panels, self._tracks, strict=True):
            panel.move(places[max(0, frame - _TRAIL) : frame + 1], float(radii[frame]), camera)


class _Panel:
    """A shaded sphere with the particles of a scheme on it; `moving` has the far side first."""

    def __init__(self, axes: Axes, scheme: str) -> None:
        colour = SCHEMES[scheme].look.colour
        axes.set_axis_off()
        axes.set(xlim=(-1.06, 1.06), ylim=(-1.06, 1.06), aspect="equal")
        axes.set_title(SCHEMES[scheme].title, loc="center", fontsize=12, color=colour, pad=2)
        axes.imshow(_disc(), extent=(-1, 1, -1, 1), interpolation="bilinear")
        axes.add_patch(Circle((0, 0), 1, fill=False, color=_GRID, linewidth=0.8))
        pale = np.array(to_rgb(colour)) * _PALE + _DARKEST * (1 - _PALE)
        dots = {"linestyle": "", "marker": "o", "markeredgewidth": 0.5}
        (self._back,) = axes.plot([], [], color=pale, markersize=4.5, **dots)
        (self._grid,) = axes.plot([], [], color=_GRID, linewidth=0.5)
        (self._trails,) = axes.plot([], [], color=colour, linewidth=0.7, alpha=0.5)
        front = {"color": colour, "markeredgecolor": "white", "markersize": 6.5}
        (self._front,) = axes.plot([], [], **(dots | front))
        self._radius = axes.text(0, -1.04, "", fontsize=10, color=FAINT, ha="center", va="top")
        self.moving = self._back, self._grid, self._trails, self._front, self._radius

    def move(self, trail: Places, radius: float, camera: Camera) -> None:
        """The particles at the last place of their trails."""
        seen = trail @ camera.T
        now, front = seen[-1], seen[-1, :, 2] > 0
        self._front.set_data(now[front, 0], now[front, 1])
        self._back.set_data(now[~front, 0], now[~front, 1])
        self._trails.set_data(*_broken(seen.transpose(1, 0, 2)))
        self._grid.set_data(*_broken(_circles() @ camera.T))
        self._radius.set_text(f"mean radius {radius:.1f}")


def camera_at(azimuth: float, elevation: float) -> Camera:
    """Looking at the centre from there."""
    east, up = np.array([math.cos(azimuth), math.sin(azimuth)]), math.sin(elevation)
    eye = np.array([*(math.cos(elevation) * east), up])
    right = np.array([-east[1], east[0], 0.0])
    return np.stack([right, np.cross(eye, right), eye])


def _empty_figure(panels: int, small: str) -> tuple[Figure, list[Axes]]:
    """Square panels in rows of three at most, the time above them, small print at the foot."""
    lines = wrapped(printable(small), _WIDTH - 2 * _EDGE, _SMALL)
    columns, row_height = min(panels, _COLUMNS), _TITLE + _SIDE + _RADIUS
    foot = 2 * _EDGE + 0.15 * len(lines)
    height = _HEAD + math.ceil(panels / columns) * row_height + foot
    figure = Drawing(figsize=(_WIDTH, height), dpi=_DOTS)
    how = {"fontsize": _SMALL, "color": FAINT, "parse_math": False}
    figure.text(_EDGE / _WIDTH, _EDGE / height, "\n".join(lines), **how)
    boxes = []
    for place in range(panels):
        row, column = divmod(place, columns)
        left = _WIDTH * (column + 0.5) / columns - _SIDE / 2
        bottom = height - _HEAD - (row + 1) * row_height + _RADIUS
        box = left / _WIDTH, bottom / height, _SIDE / _WIDTH, _SIDE / height
        boxes.append(figure.add_axes(box))
    return figure, boxes


def _track(rows: pl.DataFrame) -> tuple[Places, np.ndarray]:
    """Where the particles of a scheme are in each frame, and their mean radius."""
    shown, particles = rows.sort("time", "particle"), rows["particle"].n_unique()
    places = shown.select("x", "y", "z").to_numpy().reshape(-1, particles, 3)
    return places, shown["radius"].to_numpy().reshape(-1, particles).mean(axis=1)


def _disc() -> Float[np.ndarray, "rows columns 4"]:
    """The light on a sphere; nothing around it."""
    across = np.linspace(-1, 1, _PIXELS)
    x, y = np.meshgrid(across, -across)
    squared = np.clip(1 - x**2 - y**2, 0, None)
    light = np.clip(_LIGHT[0] * x + _LIGHT[1] * y + _LIGHT[2] * np.sqrt(squared), 0, 1)
    shade = _DARKEST + (_LIGHTEST - _DARKEST) * np.round(light * _SHADES) / _SHADES
    inside = np.clip((1 - np.hypot(x, y)) * _PIXELS / 2, 0, 1)
    return np.dstack([shade, shade, shade, inside])


def _circles() -> Float[np.ndarray, "circles points 3"]:
    """Parallels and meridians: without them nobody sees the camera move."""
    turn = np.linspace(0, 2 * np.pi, 121)
    across, along = np.cos(turn), np.sin(turn)
    circles = []
    for at in (-math.pi / 4, 0.0, math.pi / 4):
        circles.append([across * math.cos(at), along * math.cos(at), 0 * turn + math.sin(at)])
    for at in (0.0, math.pi / 4, math.pi / 2, 3 * math.pi / 4):
        circles.append([across * math.cos(at), across * math.sin(at), along])
    return np.array(circles).transpose(0, 2, 1)


def _broken(lines: Float[np.ndarray, "lines points 3"]) -> Float[np.ndarray, "2 joined"]:
    """All lines as one, with a hole between any two and where one is on the far side."""
    seen = np.where(lines[..., 2:] > 0, lines, np.nan)
    holes = np.full((len(lines), 1, 3), np.nan)
    return np.concatenate([seen, holes], axis=1).reshape(-1, 3).T[:2]


def _in_one_palette(pictures: list[Image.Image]) -> list[Image.Image]:
    """With a palette for each the shading would flicker, and nothing could stay as it was."""
    ends = [pictures[0], pictures[len(pictures) // 2], pictures[-1]]
    together = Image.fromarray(np.concatenate([np.asarray(picture) for picture in ends]))
    palette = together.quantize(255, method=Image.Quantize.MEDIANCUT)
    colours = np.array(palette.getpalette()).reshape(-1, 3)
    colours[colours.min(axis=1) > _PAPER] = 255  # else the paper is a grey that is nearly white
    palette.putpalette(colours.flatten().tolist())
    return [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
