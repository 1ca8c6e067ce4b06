"""One shaded sphere seen from a camera, with the particles of a scheme on it.

A camera is three unit rows: to the right, upwards, towards the eye. Seen from far away, so that a
point is where its first two products are, and in front where the third is positive.
"""

import math

import numpy as np
from jaxtyping import Float
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle

from headgauge.report.dynamics.looks import SCHEME_LOOKS
from headgauge.report.sheet import FAINT

Camera = Float[np.ndarray, "3 3"]

_LIGHT = (-0.45, 0.55, 0.70)  # from where, in the camera's terms
_SHADES = 14  # few: a picture in which nothing moves there stays small
_DARKEST, _LIGHTEST = 0.76, 0.95
_PALE = 0.35  # of its colour is left of a particle on the far side
_PIXELS = 320
_GRID = "#BDBDBD"


def camera_at(azimuth: float, elevation: float) -> Camera:
    """Looking at the centre from there."""
    east, up = np.array([math.cos(azimuth), math.sin(azimuth)]), math.sin(elevation)
    eye = np.array([*(math.cos(elevation) * east), up])
    right = np.array([-east[1], east[0], 0.0])
    return np.stack([right, np.cross(eye, right), eye])


class Ball:
    """A panel: what stands still is drawn once, what moves is put in its place by `move`."""

    def __init__(self, axes: Axes, scheme: str) -> None:
        look = SCHEME_LOOKS[scheme]
        axes.set_axis_off()
        axes.set_xlim(-1.06, 1.06)
        axes.set_ylim(-1.06, 1.06)
        axes.set_aspect("equal")
        axes.set_title(look.label, loc="center", fontsize=12, color=look.colour, pad=2)
        axes.imshow(_disc(), extent=(-1, 1, -1, 1), interpolation="bilinear")
        axes.add_patch(Circle((0, 0), 1, fill=False, color=_GRID, linewidth=0.8))
        pale = np.array(to_rgb(look.colour)) * _PALE + _DARKEST * (1 - _PALE)
        dots = {"linestyle": "", "marker": "o", "markeredgewidth": 0.5}
        (self._back,) = axes.plot([], [], color=pale, markersize=4.5, **dots)
        (self._grid,) = axes.plot([], [], color=_GRID, linewidth=0.5)
        (self._trails,) = axes.plot([], [], color=look.colour, linewidth=0.7, alpha=0.5)
        front = {"color": look.colour, "markeredgecolor": "white", "markersize": 6.5}
        (self._front,) = axes.plot([], [], **(dots | front))
        self._radius = axes.text(0, -1.04, "", fontsize=10, color=FAINT, ha="center", va="top")
        self._axes = axes
        for artist in self._moving():
            artist.set_animated(True)

    def stay(self) -> None:
        """Drawn with the rest of the figure, for a picture that does not move."""
        for artist in self._moving():
            artist.set_animated(False)

    def draw(self) -> None:
        """What moves, upon a canvas that has the rest already."""
        for artist in self._moving():
            self._axes.draw_artist(artist)

    def _moving(self) -> tuple[Artist, ...]:
        """The far side first."""
        return self._back, self._grid, self._trails, self._front, self._radius

    def move(
        self, trail: Float[np.ndarray, "frames particles 3"], radius: float, camera: Camera
    ) -> None:
        """The particles at the last place of their trails."""
        seen = trail @ camera.T
        now, front = seen[-1], seen[-1, :, 2] > 0
        self._front.set_data(now[front, 0], now[front, 1])
        self._back.set_data(now[~front, 0], now[~front, 1])
        self._trails.set_data(*_broken(seen.transpose(1, 0, 2)))
        self._grid.set_data(*_broken(_circles() @ camera.T))
        self._radius.set_text(f"mean radius {radius:.1f}")


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
    parallels = [
        np.stack([across * math.cos(at), along * math.cos(at), np.full_like(turn, math.sin(at))])
        for at in (-math.pi / 4, 0.0, math.pi / 4)
    ]
    meridians = [
        np.stack([across * math.cos(at), across * math.sin(at), along])
        for at in (0.0, math.pi / 4, math.pi / 2, 3 * math.pi / 4)
    ]
    return np.stack(parallels + meridians).transpose(0, 2, 1)


def _broken(
    lines: Float[np.ndarray, "lines points 3"],
) -> tuple[Float[np.ndarray, " joined"], Float[np.ndarray, " joined"]]:
    """All lines as one, with a hole between any two and where one is on the far side."""
    seen = np.where(lines[..., 2:] > 0, lines, np.nan)
    holes = np.full((len(lines), 1, 3), np.nan)
    joined = np.concatenate([seen, holes], axis=1).reshape(-1, 3)
    return joined[:, 0], joined[:, 1]
