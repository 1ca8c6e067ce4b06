// A chart of series and marks. It draws what it is given; `chart_input.js` moves it.
//
// panel: a panel of the description, for its title and axes
// options: {label, hidden: ids of what is not shown, redraw() after one was pressed, tallest}
// spec: {series: [{id, label, look, points: [{x, y, low, high, open, apart, text, title,
//        facts: [[label, value]]}], boxes: [{x, minimum, q25, median, q75, maximum}], filledTo}],
//        marks: as the description has them}

function createChart(panel, options) {
  const chart = {
    panel,
    options,
    spec: null,
    zoom: null,
    hidden: options.hidden,
    log: { x: Boolean(panel.x.log), y: Boolean(panel.y.log) },
    picture: svg('svg', {
      class: 'chart',
      role: 'img',
      tabindex: '0',
      'aria-label': options.label,
      'aria-roledescription': 'chart; arrow keys read its points, plus and minus zoom, 0 shows all',
    }),
    legend: el('ul', {
      class: 'legend',
      role: 'toolbar',
      'aria-label': 'Lines: press to hide or show',
    }),
    clip: freshId('clip'),
    cursor: null,
  };
  chart.holder = el('div', { class: 'chart-holder' }, chart.picture);
  chart.whole = el('div', { class: 'chart-whole' }, toolsOf(chart), chart.holder, chart.legend);
  listen(chart);
  new ResizeObserver(() => {
    if (chart.spec && chart.holder.clientWidth !== chart.width) draw(chart);
  }).observe(chart.holder);
  return chart;
}

function toolsOf(chart) {
  const { panel } = chart;
  const toggle = (axis) =>
    checkbox(`log ${axis}`, chart.log[axis], (on) => {
      chart.log[axis] = on;
      setZoom(chart, null);
    });
  const zoomer = (sign, name, factor) =>
    el(
      'button',
      {
        type: 'button',
        'aria-label': name,
        title: name,
        on: { click: () => zoomBy(chart, factor) },
      },
      sign,
    );
  chart.reset = el(
    'button',
    { type: 'button', class: 'reset', on: { click: () => setZoom(chart, null) } },
    'Reset',
  );
  return el(
    'div',
    { class: 'tools', role: 'toolbar', 'aria-label': `View of ${chart.options.label}` },
    el('span', { class: 'chart-title' }, prose(panel.title)),
    ['x', 'y'].filter((axis) => panel[axis].can_log).map(toggle),
    el(
      'span',
      { class: 'zoomers' },
      zoomer('+', 'Zoom in', 0.5),
      zoomer('−', 'Zoom out', 2),
      chart.reset,
    ),
  );
}

function showChart(chart, spec) {
  chart.spec = spec;
  chart.zoom = null;
  chart.cursor = null;
  draw(chart);
}

function shown(chart) {
  return chart.spec.series.filter((series) => !chart.hidden.has(series.id));
}

function shownMarks(chart) {
  return chart.spec.marks.filter((mark) => !chart.hidden.has(mark.label));
}

function draw(chart) {
  const { picture, panel } = chart;
  const width = Math.max(220, chart.holder.clientWidth || 600);
  const [ratio, least] = panel.equal ? [0.95, 240] : [0.56, 250];
  const height = Math.round(
    Math.min(chart.options.tallest || 420, Math.max(least, width * ratio)),
  );
  Object.assign(chart, { width: chart.holder.clientWidth, size: [width, height] });
  // Names beside the rows of a list need more room than numbers.
  const longest = Math.max(0, ...(panel.y.ticks || []).map(([, text]) => text.length));
  const left = Math.min(Math.max(58, 6.2 * longest + 12), 0.5 * width);
  chart.plot = { left, top: 26, right: width - 14, bottom: height - 44 };
  setScales(chart);
  picture.setAttribute('viewBox', `0 0 ${width} ${height}`);
  picture.setAttribute('height', height);
  picture.replaceChildren(
    clipOf(chart),
    ...frameOf(chart),
    svg(
      'g',
      { 'clip-path': `url(#${chart.clip})` },
      ...shownMarks(chart).map((mark) => drawMark(chart, mark)),
      ...shown(chart)
        .reverse()
        .map((series) => drawSeries(chart, series)),
    ), // the first on top
    svg('line', { class: 'now', visibility: 'hidden' }),
    svg('g', { class: 'cursor' }),
    svg('rect', { class: 'selecting', visibility: 'hidden' }),
  );
  for (const axis of ['x', 'y']) {
    const [low, high] = chart[axis].domain;
    picture.dataset[`${axis}Low`] = low;
    picture.dataset[`${axis}High`] = high;
  }
  placeNow(chart);
  chart.reset.disabled = chart.zoom === null;
  drawLegend(chart);
}

// The least and the largest of all that is shown.
function extent(chart, axis) {
  const log = chart.log[axis];
  let [low, high] = [Infinity, -Infinity];
  const take = (value) => {
    if (missing(value) || !Number.isFinite(value) || (log && value <= 0)) return;
    [low, high] = [Math.min(low, value), Math.max(high, value)];
  };
  for (const { points, boxes } of shown(chart)) {
    for (const point of points) {
      take(point[axis]);
      if (axis === 'y') [point.low, point.high].forEach(take);
    }
    for (const box of boxes || [])
      (axis === 'x' ? [box.x] : [box.minimum, box.maximum]).forEach(take);
  }
  for (const { kind, values } of shownMarks(chart)) {
    if (kind === axis) take(values[0]);
    if (kind === 'words') take(values[axis === 'x' ? 0 : 1]);
    if (kind === 'circle')
      [-1, 1].forEach((side) => take(values[axis === 'x' ? 0 : 1] + side * values[2]));
  }
  if (low > high) [low, high] = log ? [1, 10] : [0, 1];
  const { floor } = chart.panel[axis];
  return !log || missing(floor) ? [low, high] : [Math.max(floor, low), Math.max(floor * 10, high)];
}

function setScales(chart) {
  const { plot, zoom, log, panel } = chart;
  const domain = (axis) => {
    if (zoom) return zoom[axis];
    const ends = padded(extent(chart, axis), log[axis]);
    const set = [panel[axis].low, panel[axis].high];
    return ends.map((each, side) =>
      missing(set[side]) || (log[axis] && set[side] <= 0) ? each : set[side],
    );
  };
  let [xs, ys] = [domain('x'), domain('y')];
  if (panel.equal) [xs, ys] = sameUnits(xs, ys, plot);
  chart.x = scale(xs, [plot.left, plot.right], log.x, panel.x.linear);
  chart.y = scale(ys, [plot.bottom, plot.top], log.y, panel.y.linear);
}

// A circle must be round: the axis with room to spare takes more of the plane.
function sameUnits(xs, ys, plot) {
  const unit = Math.max(
    (xs[1] - xs[0]) / (plot.right - plot.left),
    (ys[1] - ys[0]) / (plot.bottom - plot.top),
  );
  const widen = ([low, high], pixels) => {
    const middle = (low + high) / 2;
    return [middle - (unit * pixels) / 2, middle + (unit * pixels) / 2];
  };
  return [widen(xs, plot.right - plot.left), widen(ys, plot.bottom - plot.top)];
}
