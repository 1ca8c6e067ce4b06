// The shapes of points: a series has a colour and a shape, so that neither is needed alone.

const SHAPES = ['circle', 'square', 'triangle', 'diamond', 'down', 'cross'];

function shapePath(shape, x, y, r) {
  const at = (dx, dy) => `${(x + dx * r).toFixed(1)} ${(y + dy * r).toFixed(1)}`;
  switch (shape) {
    case 'square':
      return `M${at(-0.9, -0.9)}L${at(0.9, -0.9)}L${at(0.9, 0.9)}L${at(-0.9, 0.9)}Z`;
    case 'triangle':
      return `M${at(0, -1.2)}L${at(1.1, 0.8)}L${at(-1.1, 0.8)}Z`;
    case 'down':
      return `M${at(0, 1.2)}L${at(1.1, -0.8)}L${at(-1.1, -0.8)}Z`;
    case 'diamond':
      return `M${at(0, -1.3)}L${at(1.2, 0)}L${at(0, 1.3)}L${at(-1.2, 0)}Z`;
    case 'cross':
      return `M${at(-1, -1)}L${at(1, 1)}M${at(1, -1)}L${at(-1, 1)}`;
    default:
      return `M${at(-1, 0)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
  }
}

function shapeOf(series) {
  return series.shape || SHAPES[(series.colour || 0) % SHAPES.length];
}

function seriesClass(series, rest) {
  if (series.look) return rest; // its holder is dressed
  return `${rest} s${series.colour}${series.dash ? ' dashed' : ''}`;
}

function swatch(series) {
  const parts = [];
  if (series.line !== false)
    parts.push(svg('line', { x1: 1, x2: 23, y1: 6, y2: 6, class: seriesClass(series, 'line') }));
  if (series.boxes)
    parts.push(
      svg('rect', { x: 7, y: 1, width: 10, height: 10, class: seriesClass(series, 'box') }),
    );
  else if (series.marker !== false) {
    const look = series.open ? 'marker open' : 'marker';
    parts.push(
      svg('path', { d: shapePath(shapeOf(series), 12, 6, 3.4), class: seriesClass(series, look) }),
    );
  }
  return dress(
    svg('svg', { class: 'swatch', width: 24, height: 12, 'aria-hidden': 'true' }, parts),
    series,
  );
}
