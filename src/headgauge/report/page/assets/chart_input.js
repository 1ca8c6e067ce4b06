// Mouse, finger and keyboard on a chart: read a point, zoom, go back.

function setZoom(chart, zoom) {
  chart.zoom = zoom;
  hideTip();
  draw(chart);
}

// Around the point that is read, or the middle.
function zoomBy(chart, factor) {
  const { plot } = chart;
  const [x, y] = chart.cursor || [(plot.left + plot.right) / 2, (plot.top + plot.bottom) / 2];
  const about = (pixel, low, high) => [
    pixel + (low - pixel) * factor,
    pixel + (high - pixel) * factor,
  ];
  const [left, right] = about(x, plot.left, plot.right);
  const [top, bottom] = about(y, plot.top, plot.bottom);
  chart.cursor = null;
  setZoom(chart, {
    x: [chart.x.invert(left), chart.x.invert(right)],
    y: [chart.y.invert(bottom), chart.y.invert(top)],
  });
}

function placeIn(chart, event) {
  const box = chart.picture.getBoundingClientRect();
  const unit = chart.size[0] / box.width;
  return [(event.clientX - box.left) * unit, (event.clientY - box.top) * unit];
}

function inPlot({ plot }, [x, y]) {
  return x >= plot.left - 6 && x <= plot.right + 6 && y >= plot.top - 6 && y <= plot.bottom + 6;
}

// Every point that can be read, with its place on the picture.
function readable(chart) {
  const found = [];
  // What has neither a name nor a point of its own is a band around another.
  for (const series of shown(chart).filter(({ label, look }) => label || look.marker)) {
    for (const point of series.points) {
      const spot = spotOf(chart, point);
      if (spot && inPlot(chart, spot)) found.push({ series, point, spot });
    }
  }
  return found;
}

function nearest(chart, [x, y]) {
  let best = null;
  let least = Infinity;
  for (const each of readable(chart)) {
    const far = (each.spot[0] - x) ** 2 + (each.spot[1] - y) ** 2 * (chart.panel.equal ? 1 : 0.5);
    if (far < least) [best, least] = [each, far];
  }
  return best;
}

function read(chart, found) {
  const { picture, panel } = chart;
  if (!found) {
    hideTip();
    return;
  }
  const [x, y] = found.spot;
  chart.cursor = found.spot;
  chart.reading = found;
  const mark = picture.querySelector('.cursor');
  mark.replaceChildren(
    panel.equal ? '' : svg('line', { x1: x, x2: x, y1: chart.plot.top, y2: chart.plot.bottom }),
    svg('circle', { cx: x, cy: y, r: 6 }),
  );
  const box = picture.getBoundingClientRect();
  const unit = box.width / chart.size[0];
  const place = `${panel.x.short || 'x'} = ${tickName(panel.x, found.point.x)}`;
  const title = found.point.title || place;
  showTip(
    box.left + x * unit,
    box.top + y * unit,
    el('strong', { class: 'tip-title' }, title),
    tipLines(panel.equal ? [] : valuesAt(chart, found)),
    tipLines(found.point.facts.map(([label, value]) => [label, sig(value, 4)])),
  );
}

// All lines at the same x, the one that was meant in bold.
function valuesAt(chart, found) {
  const named = shown(chart).filter((series) => series.label || series === found.series);
  return named.flatMap((series) =>
    series.points
      .filter((point) => point.x === found.point.x && !missing(point.y))
      .map((point) => {
        const interval =
          missing(point.low) || missing(point.high)
            ? ''
            : ` (${sig(point.low, 4)} to ${sig(point.high, 4)})`;
        const value = sig(point.y) + interval;
        return [series.label, value, { strong: point === found.point, swatch: swatch(series) }];
      }),
  );
}

function unread(chart) {
  const mark = chart.picture.querySelector('.cursor');
  if (mark) mark.replaceChildren();
  hideTip();
}

function listen(chart) {
  const { picture } = chart;
  let from = null;
  picture.addEventListener('pointerdown', (event) => {
    const at = placeIn(chart, event);
    if (event.pointerType === 'touch') {
      read(chart, nearest(chart, at));
      return;
    }
    if (event.button !== 0 || !inPlot(chart, at)) return;
    from = at;
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener('pointermove', (event) => {
    const at = placeIn(chart, event);
    if (from) {
      hideTip();
      stretch(chart, from, at);
      return;
    }
    if (inPlot(chart, at)) read(chart, nearest(chart, at));
    else unread(chart);
  });
  picture.addEventListener('pointerup', (event) => {
    if (!from) return;
    const chosen = corners(chart, from, placeIn(chart, event));
    from = null;
    picture.querySelector('.selecting').setAttribute('visibility', 'hidden');
    zoomTo(chart, chosen);
  });
  picture.addEventListener('pointercancel', () => {
    from = null;
  });
  picture.addEventListener('pointerleave', (event) => {
    if (event.pointerType !== 'touch') unread(chart);
  });
  picture.addEventListener('dblclick', () => setZoom(chart, null));
  picture.addEventListener('blur', () => unread(chart));
  picture.addEventListener('keydown', (event) => pressed(chart, event));
}

function corners({ plot }, from, to) {
  const held = (value, low, high) => Math.max(low, Math.min(high, value));
  const xs = [from[0], to[0]]
    .map((each) => held(each, plot.left, plot.right))
    .sort((a, b) => a - b);
  const ys = [from[1], to[1]]
    .map((each) => held(each, plot.top, plot.bottom))
    .sort((a, b) => a - b);
  return { xs, ys };
}

function stretch(chart, from, to) {
  const { xs, ys } = corners(chart, from, to);
  const box = chart.picture.querySelector('.selecting');
  fill(
    box,
    { x: xs[0], y: ys[0], width: xs[1] - xs[0], height: ys[1] - ys[0], visibility: 'visible' },
    [],
  );
}

// A stroke along one axis zooms that axis alone; a slip of the hand zooms nothing.
function zoomTo(chart, { xs, ys }) {
  const enough = 8;
  const [wide, high] = [xs[1] - xs[0] > enough, ys[1] - ys[0] > enough];
  if (!wide && !high) return;
  setZoom(chart, {
    x: wide ? xs.map(chart.x.invert) : chart.x.domain,
    y: high ? [chart.y.invert(ys[1]), chart.y.invert(ys[0])] : chart.y.domain,
  });
}

function pressed(chart, event) {
  const keys = { '+': 0.5, '=': 0.5, '-': 2 };
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in keys) zoomBy(chart, keys[event.key]);
  else if (event.key === '0') setZoom(chart, null);
  else if (event.key.startsWith('Arrow')) read(chart, step(chart, event.key));
  else return;
  event.preventDefault();
}

// Left and right along a line, up and down between the lines at one x.
function step(chart, key) {
  const all = readable(chart);
  const now = all.find((each) => chart.reading && each.point === chart.reading.point) || null;
  if (!now) return all[0] || null;
  const along = key === 'ArrowLeft' || key === 'ArrowRight';
  const row = along
    ? all.filter((each) => each.series === now.series)
    : all.filter((each) => each.point.x === now.point.x).sort((a, b) => b.spot[1] - a.spot[1]);
  const place = row.indexOf(now) + (key === 'ArrowRight' || key === 'ArrowUp' ? 1 : -1);
  return row[Math.max(0, Math.min(row.length - 1, place))];
}
