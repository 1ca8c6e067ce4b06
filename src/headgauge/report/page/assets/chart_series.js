// One series of a chart: its band, line, boxes and points, and its entry in the legend.

// Where a point is drawn; null where it cannot be (zero on a logarithmic axis).
function spotOf(chart, point) {
  if (missing(point.x) || missing(point.y)) return null;
  const floor = chart.log.y ? chart.options.floorY : undefined;
  const y = floor === undefined ? point.y : Math.max(point.y, floor);
  if ((chart.log.x && point.x <= 0) || (chart.log.y && y <= 0)) return null;
  return [chart.x(point.x), chart.y(y)];
}

function drawSeries(chart, series) {
  const points = (series.points || [])
    .map((point) => [point, spotOf(chart, point)])
    .filter((each) => each[1]);
  const group = dress(svg('g', { 'data-series': series.id }), series);
  if (series.band !== false) group.append(...bandOf(chart, series, points));
  const along = points.filter(([point]) => !point.apart);
  if (series.line !== false && along.length > 1) {
    const path = along
      .map(([, [x, y]], place) => `${place ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`)
      .join('');
    group.append(svg('path', { class: seriesClass(series, 'line'), d: path }));
  }
  group.append(...(series.boxes || []).map((box) => boxOf(chart, series, box)));
  if (series.marker !== false) {
    const radius = series.radius || (points.length > 60 ? 2 : 3);
    for (const [point, [x, y]] of points) {
      group.append(
        svg('path', {
          class: seriesClass(
            series,
            point.open || series.open ? 'marker open' : point.apart ? 'marker faint' : 'marker',
          ),
          d: shapePath(point.shape || shapeOf(series), x, y, point.radius || radius),
          'data-x': point.x,
          'data-y': point.y,
        }),
      );
    }
  }
  return group;
}

function bandOf(chart, series, points) {
  const held = points
    .map(([point]) => point)
    .filter((point) => !point.apart && !missing(point.low) && !missing(point.high))
    .filter((point) => !chart.log.y || point.high > 0);
  if (!held.length) return [];
  // Below zero there is no place on a logarithmic axis: the band goes to its foot.
  const least = chart.log.y ? chart.y.domain[0] / 10 : -Infinity;
  const at = (point, side) =>
    `${chart.x(point.x).toFixed(1)} ${chart.y(Math.max(least, point[side])).toFixed(1)}`;
  const above = held.map((point) => at(point, 'high'));
  const below = held.map((point) => at(point, 'low'));
  const around = [...above, ...below.reverse()].join('L');
  const look = held.length === 1 ? 'line' : 'band';
  return [svg('path', { class: seriesClass(series, look), d: `M${around}Z` })];
}

function boxOf(chart, series, box) {
  const all = series.boxes.map((each) => chart.x(each.x)).sort((a, b) => a - b);
  const gaps = all
    .slice(1)
    .map((each, place) => each - all[place])
    .filter((gap) => gap > 0.5);
  const wide = Math.max(
    2.5,
    Math.min(18, 0.62 * (gaps.length ? gaps.reduce((a, b) => Math.min(a, b)) : 18)),
  );
  const x = chart.x(box.x);
  const y = (name) => chart.y(box[name]).toFixed(1);
  const group = svg('g', { class: seriesClass(series, 'boxplot'), 'data-x': box.x });
  group.append(
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
  return group;
}

function drawLegend(chart) {
  chart.legend.replaceChildren(
    ...chart.spec.series
      .filter((series) => series.name)
      .map((series) => {
        const on = !chart.hidden.has(series.id);
        const press = () => {
          if (on) chart.hidden.add(series.id);
          else chart.hidden.delete(series.id);
          for (const each of chart.options.together || [chart]) draw(each);
          const again = [...chart.legend.querySelectorAll('button')].find(
            (each) => each.dataset.series === series.id,
          );
          if (again) again.focus();
        };
        return el(
          'li',
          null,
          el(
            'button',
            {
              type: 'button',
              'aria-pressed': String(on),
              'data-series': series.id,
              on: { click: press },
            },
            swatch(series),
            el('span', null, series.name),
          ),
        );
      }),
  );
}
