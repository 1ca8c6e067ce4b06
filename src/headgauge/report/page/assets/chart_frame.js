// What stands around and behind the lines of a chart.

function clipOf({ clip, plot }) {
  const [width, height] = [plot.right - plot.left, plot.bottom - plot.top];
  return svg(
    'defs',
    null,
    svg('clipPath', { id: clip }, svg('rect', { x: plot.left, y: plot.top, width, height })),
  );
}

function frameOf({ plot, x, y, spec, panel }) {
  const parts = [];
  const [wide, high] = [plot.right - plot.left, plot.bottom - plot.top];
  for (const [tick, text] of ticksOf(x, panel.x.ticks, wide / 62)) {
    const at = x(tick).toFixed(1);
    const place = { class: 'tick', x: at, y: plot.bottom + 16, 'text-anchor': 'middle' };
    parts.push(
      svg('line', { class: 'grid', x1: at, x2: at, y1: plot.top, y2: plot.bottom }),
      svg('text', place, text),
    );
  }
  for (const [tick, text] of ticksOf(y, panel.y.ticks, high / 38)) {
    const at = y(tick);
    const place = { class: 'tick', x: plot.left - 7, y: (at + 4).toFixed(1), 'text-anchor': 'end' };
    parts.push(
      svg('line', { class: 'grid', x1: plot.left, x2: plot.right, y1: at, y2: at }),
      svg('text', place, text),
    );
  }
  const middle = { x: (plot.left + plot.right) / 2, 'text-anchor': 'middle' };
  parts.push(
    svg('path', { class: 'axis', d: `M${plot.left} ${plot.top}V${plot.bottom}H${plot.right}` }),
    svg(
      'text',
      { class: 'axis-label', ...middle, y: plot.bottom + 36 },
      svgFormulas(panel.x.label),
    ),
    svg('text', { class: 'axis-label', x: 4, y: 13 }, svgFormulas(panel.y.label)),
  );
  if (!spec.series.length)
    parts.push(
      svg(
        'text',
        { class: 'empty', ...middle, y: (plot.top + plot.bottom) / 2 },
        panel.empty || 'nothing was measured',
      ),
    );
  return parts;
}

function drawMark({ x, y, plot }, { kind, values, label, look }) {
  const [a, b, r] = values;
  const group = dress(svg('g', { class: 'mark' }), look);
  const words = (left, top) =>
    svg('text', { class: 'mark-label', x: left, y: top }, svgFormulas(label || ''));
  const held = (value, ends) => Math.max(ends[0], Math.min(ends[1], value));
  if (kind === 'y')
    group.append(
      svg('path', { class: 'line', d: `M${plot.left} ${y(a)}H${plot.right}` }),
      words(plot.left + 5, y(a) - 4),
    );
  else if (kind === 'x')
    group.append(
      svg('path', { class: 'line', d: `M${x(a)} ${plot.top}V${plot.bottom}` }),
      words(x(a) + 4, plot.top + 12),
    );
  else if (kind === 'circle')
    group.append(
      svg('ellipse', {
        class: 'ring',
        cx: x(a),
        cy: y(b),
        rx: Math.abs(x(a + r) - x(a)),
        ry: Math.abs(y(b + r) - y(b)),
      }),
    );
  else if (kind === 'words') group.append(words(x(a), y(b)));
  else {
    const [xs, ys] = [
      [plot.left, plot.right],
      [plot.top, plot.bottom],
    ];
    const [left, right] = kind === 'x band' ? [a, b].map((each) => held(x(each), xs)) : xs;
    const [top, bottom] = kind === 'y band' ? [b, a].map((each) => held(y(each), ys)) : ys;
    const size = { width: Math.max(0, right - left), height: Math.max(0, bottom - top) };
    group.append(svg('rect', { class: 'shade', x: left, y: top, ...size }));
  }
  return group;
}

// An upright line at a time that something else sets; it moves without a new drawing.
function setNow(chart, time) {
  chart.now = time;
  placeNow(chart);
}

function placeNow({ now, picture, plot, x }) {
  const line = picture.querySelector('.now');
  if (missing(now) || !line) return;
  // Zero has no place on a logarithmic axis: it is beyond the left end.
  const at = x.log && now <= 0 ? plot.left : x(now);
  const inside = at >= plot.left - 0.5 && at <= plot.right + 0.5;
  fill(
    line,
    { x1: at, x2: at, y1: plot.top, y2: plot.bottom, visibility: inside ? 'visible' : 'hidden' },
    [],
  );
  line.dataset.time = now;
}
