// A chart of lines, bands, boxes and points. It draws what it is given; `chart_input.js` moves it.
//
// spec: {x: {label, name}, y: {label}, series: [{id, name, colour, dash, line, marker, open,
//        look: {colour, dash, wide} in place of colour and dash,
//        points: [{x, y, low, high, open, apart: off the line, title, facts: [[label, text]]}],
//        boxes: [{x, minimum, q25, median, q75, maximum}]}],
//        shades: [{from, to}], levels: [{y, label}], circles: [{x, y, r, name}],
//        reach: a y that is always in view,
//        start: {x: [low, high], y: […]} where the first view is not everything}

function createChart(options) {
  const chart = {
    options,
    spec: null,
    zoom: null,
    hidden: options.hidden instanceof Set ? options.hidden : new Set(options.hidden || []),
    log: { x: Boolean(options.logX), y: Boolean(options.logY) },
    picture: svg('svg', {
      class: 'chart',
      role: 'img',
      tabindex: '0',
      'aria-label': options.label,
      'aria-roledescription': 'chart; arrow keys read its points, plus and minus zoom, 0 shows all',
    }),
    legend: el('ul', { class: 'legend', 'aria-label': 'Lines: press to hide or show' }),
    tools: el('div', { class: 'tools' }),
    clip: freshId('clip'),
    cursor: null,
  };
  chart.holder = el('div', { class: 'chart-holder' }, chart.picture);
  chart.whole = el('div', { class: 'chart-whole' }, chart.tools, chart.holder, chart.legend);
  addTools(chart);
  listen(chart);
  new ResizeObserver(() => {
    if (chart.spec && chart.holder.clientWidth !== chart.width) draw(chart);
  }).observe(chart.holder);
  return chart;
}

function addTools(chart) {
  const { options } = chart;
  const toggle = (axis) =>
    checkbox(`log ${axis}`, chart.log[axis], (on) => {
      chart.log[axis] = on;
      setZoom(chart, null);
    });
  chart.reset = el(
    'button',
    { type: 'button', class: 'reset', on: { click: () => setZoom(chart, null) } },
    'Reset',
  );
  chart.tools.append(
    el('span', { class: 'chart-title' }, options.title || ''),
    ...['x', 'y'].filter((axis) => options[`can${axis.toUpperCase()}`]).map(toggle),
    el(
      'span',
      { class: 'zoomers' },
      el(
        'button',
        {
          type: 'button',
          'aria-label': 'Zoom in',
          title: 'Zoom in',
          on: { click: () => zoomBy(chart, 0.5) },
        },
        '+',
      ),
      el(
        'button',
        {
          type: 'button',
          'aria-label': 'Zoom out',
          title: 'Zoom out',
          on: { click: () => zoomBy(chart, 2) },
        },
        '−',
      ),
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

function draw(chart) {
  const { picture, options } = chart;
  const width = Math.max(220, chart.holder.clientWidth || 600);
  const ratio = options.equal ? 0.95 : 0.56;
  const height = Math.round(
    Math.min(options.tallest || 400, Math.max(options.equal ? 240 : 250, width * ratio)),
  );
  Object.assign(chart, { width: chart.holder.clientWidth, size: [width, height] });
  const edge = { left: 58, right: 14, top: 26, bottom: 44 };
  chart.plot = {
    left: edge.left,
    top: edge.top,
    right: width - edge.right,
    bottom: height - edge.bottom,
  };
  setScales(chart);
  picture.setAttribute('viewBox', `0 0 ${width} ${height}`);
  picture.setAttribute('height', height);
  picture.replaceChildren(
    clipOf(chart),
    ...backdrop(chart),
    ...axes(chart),
    svg(
      'g',
      { 'clip-path': `url(#${chart.clip})` },
      ...overlays(chart),
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

function extent(chart, axis) {
  const values = [];
  const log = chart.log[axis];
  const take = (value) => {
    if (!missing(value) && Number.isFinite(value) && (!log || value > 0)) values.push(value);
  };
  for (const series of shown(chart)) {
    for (const point of series.points || []) {
      take(point[axis]);
      if (axis === 'y') {
        take(point.low);
        take(point.high);
      }
    }
    for (const box of series.boxes || []) {
      if (axis === 'x') take(box.x);
      else {
        take(box.minimum);
        take(box.maximum);
      }
    }
  }
  for (const circle of chart.spec.circles || []) {
    take(circle[axis] - circle.r);
    take(circle[axis] + circle.r);
  }
  if (axis === 'y')
    [chart.spec.reach, ...(chart.spec.levels || []).map((level) => level.y)].forEach(take);
  const floor = axis === 'y' && log ? chart.options.floorY : undefined;
  const ends = values.length
    ? [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))]
    : [log ? 1 : 0, log ? 10 : 1];
  return floor === undefined ? ends : [Math.max(floor, ends[0]), Math.max(floor * 10, ends[1])];
}

function setScales(chart) {
  const { plot, zoom, log } = chart;
  const start = chart.spec.start || {};
  const domain = (axis) =>
    (zoom && zoom[axis]) || start[axis] || padded(extent(chart, axis), log[axis]);
  let [xs, ys] = [domain('x'), domain('y')];
  if (chart.options.equal) [xs, ys] = sameUnits(xs, ys, plot);
  chart.x = scale(xs, [plot.left, plot.right], log.x);
  chart.y = scale(ys, [plot.bottom, plot.top], log.y);
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
