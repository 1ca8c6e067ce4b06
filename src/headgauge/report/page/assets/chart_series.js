// One series of a chart: its band, line, boxes and points, and its entry in the legend.

// Where a point is drawn; null where it cannot be (zero on a logarithmic axis).
function spotOf({ panel, log, x, y }, point) {
  if (missing(point.x) || missing(point.y)) return null;
  const held = (axis) =>
    log[axis] && !missing(panel[axis].floor)
      ? Math.max(point[axis], panel[axis].floor)
      : point[axis];
  const [across, up] = [held('x'), held('y')];
  if ((log.x && across <= 0) || (log.y && up <= 0)) return null;
  return [x(across), y(up)];
}

const through = (spots) => spots.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L');

function drawSeries(chart, series) {
  const { look } = series;
  const points = series.points
    .map((point) => [point, spotOf(chart, point)])
    .filter((each) => each[1]);
  const group = dress(svg('g', { 'data-series': series.id }), look);
  const along = points.filter(([point]) => !point.apart);
  group.append(...areasOf(chart, series, along));
  if (look.line !== 'none' && along.length > 1)
    group.append(svg('path', { class: 'line', d: `M${through(along.map(([, spot]) => spot))}` }));
  group.append(...(series.boxes || []).map((box) => boxOf(chart, series, box)));
  const radius = (points.length > 60 || look.marker === 'dot' ? 2 : 3) * (look.size || 1);
  if (look.marker)
    for (const [point, [x, y]] of points) {
      group.append(
        svg('path', {
          class: `marker${point.open ? ' open' : ''}${point.apart ? ' apart' : ''}`,
          d: shapePath(look.marker, x, y, radius),
          'data-x': point.x,
          'data-y': point.y,
        }),
      );
    }
  return group;
}

// A band, or bars at points without a line; the area up to another series.
function areasOf(chart, series, along) {
  const held = along
    .map(([point]) => point)
    .filter((point) => !missing(point.low) && !missing(point.high))
    .filter((point) => !chart.log.y || point.high > 0);
  // Below zero there is no place on a logarithmic axis: the band goes to its foot.
  const least = chart.log.y ? chart.y.domain[0] / 10 : -Infinity;
  const at = (side) => (point) => [chart.x(point.x), chart.y(Math.max(least, point[side]))];
  const [above, below] = [held.map(at('high')), held.map(at('low'))];
  const parts = [];
  const { line, marker } = series.look;
  if ((line === 'none' && marker) || held.length === 1)
    parts.push(
      ...above.map((top, place) =>
        svg('path', { class: 'whisker', d: `M${through([top, below[place]])}` }),
      ),
    );
  else if (held.length)
    parts.push(
      svg('path', { class: 'band', d: `M${through([...above, ...below.reverse()])}Z` }),
    );
  const other = shown(chart).find(({ id }) => id === series.filledTo);
  if (other) {
    const back = other.points.map((point) => spotOf(chart, point)).filter(Boolean);
    const spots = [...along.map(([, spot]) => spot), ...back.reverse()];
    parts.push(svg('path', { class: 'band', d: `M${through(spots)}Z` }));
  }
  return parts;
}

function boxOf(chart, series, box) {
  const all = series.boxes.map((each) => chart.x(each.x)).sort((a, b) => a - b);
  const gaps = all
    .slice(1)
    .map((each, place) => each - all[place])
    .filter((gap) => gap > 0.5);
  const wide = Math.max(2.5, Math.min(18, 0.62 * gaps.reduce((a, b) => Math.min(a, b), 29)));
  const x = chart.x(box.x);
  const y = (name) => chart.y(box[name]).toFixed(1);
  return svg(
    'g',
    { class: 'boxplot', 'data-x': box.x },
    svg('path', {
      class: 'whisker',
      d: `M${x} ${y('minimum')}V${y('q25')}M${x} ${y('q75')}V${y('maximum')}`,
    }),
    svg('rect', {
      class: 'box',
      x: x - wide / 2,
      width: wide,
      y: y('q75'),
      height: Math.max(1, y('q25') - y('q75')),
    }),
    svg('path', { class: 'median', d: `M${x - wide / 2} ${y('median')}h${wide}` }),
  );
}

// What can be pressed: [id, words, swatch], each once.
function legendOf({ spec }) {
  const series = spec.series.filter(({ label }) => label);
  const marks = spec.marks.filter((mark) => mark.in_legend);
  const entries = [
    ...series.map((each) => [each.id, each.label, () => swatch(each)]),
    ...marks.map((each) => [each.label, each.label, () => swatch(each)]),
  ];
  return entries.filter(([id], place) => entries.findIndex((each) => each[0] === id) === place);
}

function drawLegend(chart) {
  const { legend, hidden } = chart;
  const button = ([id, label, sign]) => {
    const press = () => {
      if (!hidden.delete(id)) hidden.add(id);
      chart.options.redraw();
      [...legend.querySelectorAll('button')].find((each) => each.dataset.series === id).focus();
    };
    const pressed = String(!hidden.has(id));
    return el(
      'button',
      { type: 'button', 'aria-pressed': pressed, 'data-series': id, on: { click: press } },
      sign(),
      el('span', null, prose(label)),
    );
  };
  const entry = (each) => el('li', { role: 'none' }, button(each));
  legend.replaceChildren(...legendOf(chart).map(entry));
}
