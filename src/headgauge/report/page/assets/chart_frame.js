// What stands around and behind the lines of a chart.

function clipOf({ clip, plot }) {
  return svg(
    'defs',
    null,
    svg(
      'clipPath',
      { id: clip },
      svg('rect', {
        x: plot.left,
        y: plot.top,
        width: plot.right - plot.left,
        height: plot.bottom - plot.top,
      }),
    ),
  );
}

function backdrop({ plot, spec, y }) {
  const held = (value) => Math.max(plot.top, Math.min(plot.bottom, y(value)));
  return (spec.shades || []).map((shade) => {
    const [top, bottom] = [held(shade.to), held(shade.from)];
    return svg('rect', {
      class: 'shade',
      x: plot.left,
      width: plot.right - plot.left,
      y: top,
      height: Math.max(0, bottom - top),
    });
  });
}

function axes({ plot, x, y, spec, options }) {
  const parts = [];
  const wide = (plot.right - plot.left) / (options.equal ? 58 : 62);
  for (const tick of ticksOf(x, wide)) {
    const at = x(tick).toFixed(1);
    parts.push(
      svg('line', { class: 'grid', x1: at, x2: at, y1: plot.top, y2: plot.bottom }),
      svg(
        'text',
        { class: 'tick', x: at, y: plot.bottom + 16, 'text-anchor': 'middle' },
        tickText(tick),
      ),
    );
  }
  for (const tick of ticksOf(y, (plot.bottom - plot.top) / 38)) {
    const at = y(tick);
    parts.push(
      svg('line', {
        class: 'grid',
        x1: plot.left,
        x2: plot.right,
        y1: at.toFixed(1),
        y2: at.toFixed(1),
      }),
      svg(
        'text',
        { class: 'tick', x: plot.left - 7, y: (at + 4).toFixed(1), 'text-anchor': 'end' },
        tickText(tick),
      ),
    );
  }
  parts.push(
    svg('path', { class: 'axis', d: `M${plot.left} ${plot.top}V${plot.bottom}H${plot.right}` }),
    svg(
      'text',
      {
        class: 'axis-label',
        x: (plot.left + plot.right) / 2,
        y: plot.bottom + 36,
        'text-anchor': 'middle',
      },
      spec.x.label,
    ),
    svg('text', { class: 'axis-label', x: 4, y: 13 }, spec.y.label),
  );
  return parts;
}

function overlays({ spec, x, y, plot }) {
  const circles = (spec.circles || []).map((each) =>
    svg('ellipse', {
      class: `ring ${each.name}`,
      cx: x(each.x),
      cy: y(each.y),
      rx: Math.abs(x(each.x + each.r) - x(each.x)),
      ry: Math.abs(y(each.y + each.r) - y(each.y)),
    }),
  );
  const levels = (spec.levels || []).map((each) =>
    svg(
      'g',
      null,
      svg('line', { class: 'level', x1: plot.left, x2: plot.right, y1: y(each.y), y2: y(each.y) }),
      svg('text', { class: 'level-label', x: plot.left + 5, y: y(each.y) - 4 }, each.label),
    ),
  );
  return [...circles, ...levels];
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
