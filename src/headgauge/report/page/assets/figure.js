// A figure from its description: panels, switches, caption. None is known here by its name.

// options: {switches above it, clock it follows, valuesOf(name, series): the list that stands for
//           a name in place of x, y or a fact, of(): whose values these are, tallest chart in pixels,
//           heading: false for none}
function createFigure(description, options = {}) {
  const { name, title, panels } = description;
  const { switches = createSwitches([]), clock = null, of = null } = options;
  const hidden = new Set(
    panels.flatMap((panel) =>
      (panel.series || []).filter((each) => each.shown === false).map((each) => each.name),
    ),
  );
  const views = new Map();
  // A panel is made when it is first seen: there may be many, at other settings of the switches.
  const viewOf = (panel) => {
    if (!views.has(panel)) {
      const label = panel.title ? `${title}: ${panel.title}` : title;
      const redraw = () => charts().forEach(draw);
      const view = panel.rows
        ? createMapPanel(panel, label)
        : createChart(panel, { label, hidden, redraw, tallest: options.tallest });
      views.set(panel, view);
    }
    return views.get(panel);
  };
  const holder = el('div');
  holder.style.setProperty('--across', description.columns || 3);
  const choice = createChoice(description, switches, show);
  const made = {
    whole: null,
    show,
    state: {},
    panels: () => panels.filter(({ at }) => matches(at, made.state)),
    words: () => [title, choice.words(made.state)].filter(Boolean).join(': '),
  };
  const settings = () => [of ? of() : '', ...choice.settings(made.state)];
  const said = el('p', { class: 'fallback', role: 'status', hidden: true });
  const caption = el('figcaption');
  const legend = el('div');
  const there = () => made.panels().map(viewOf);
  const charts = () => there().filter((view) => view.spec);

  function show(last) {
    const settled = choice.settle(last);
    made.state = settled.state;
    const alone = made.panels().map((panel) => choice.whyOne(panel, panels, made.state));
    const notes = unique([settled.said, ...alone]).filter(Boolean);
    said.replaceChildren(...prose(notes.join(' ')));
    said.hidden = !notes.length;
    const shownNow = there();
    holder.className = shownNow.length > 1 ? 'charts many' : 'charts';
    holder.replaceChildren(...shownNow.map((view) => view.whole));
    for (const view of shownNow)
      if (view.panel.rows) showMapPanel(view);
      else showChart(view, specOf(view.panel, made.state, options.valuesOf));
    shareLegend(charts(), legend);
    const told = (description.caption || []).filter((each) => matches(each.at, made.state));
    caption.replaceChildren(...prose(told.map((each) => each.text).join(' ')));
    if (clock) clock.again();
  }

  made.whole = el(
    'figure',
    { id: name, 'aria-labelledby': `${name}-title` },
    el('h3', { id: `${name}-title`, hidden: options.heading === false }, prose(title)),
    choice.boxes.length ? el('div', { class: 'controls' }, choice.boxes) : null,
    said,
    holder,
    legend,
    caption,
    exportTools({
      what: title,
      name: () => [name, ...settings()].join(' '),
      picture: () => [made.whole, of ? `${title}: ${of()}` : title, choice.words(made.state)],
      rows: () => there().flatMap((view) => (view.spec ? chartRows(view) : mapRows(view))),
    }),
  );
  roving(made.whole, '.tools button, .tools input');
  roving(made.whole, '.legend button');
  switches.listeners.push(() => show());
  if (clock) clock.follow((time) => charts().forEach((chart) => setNow(chart, time)));
  if (!options.valuesOf) show();
  return made;
}

// One legend serves all charts where one of them has every line that the others have.
function shareLegend(charts, holder) {
  const names = charts.map((chart) => legendOf(chart).map(([id]) => id));
  const hasAll = (mine) => names.every((other) => other.every((id) => mine.includes(id)));
  const most = names.findIndex(hasAll);
  holder.replaceChildren();
  charts.forEach((chart, place) => {
    if (charts.length < 2 || most < 0) chart.whole.append(chart.legend);
    else if (place === most) holder.append(chart.legend);
    else chart.legend.remove();
  });
}

function specOf(panel, state, valuesOf) {
  const series = (panel.series || [])
    .filter((each) => matches(each.at, state))
    .map((each) => seriesOf(each, valuesOf))
    .filter(({ points, boxes }) => boxes || points.some((point) => !missing(point.y)));
  const marks = (panel.marks || [])
    .filter((each) => matches(each.at, state))
    .map((each) => ({ look: PLAIN, ...each }));
  return { series, marks };
}

// What is drawn, as rows of a table; of lines that are hidden it is said.
function chartRows({ panel, spec, hidden }) {
  const named = (axis, value) => ((axis.ticks || []).find(([each]) => each === value) || [])[1];
  return spec.series.flatMap(({ id, label, points, boxes = [] }) =>
    points.map(({ x, y, low, high, apart, title, facts }) => ({
      panel: panel.title,
      line: label || id,
      hidden: hidden.has(id) ? 'yes' : null,
      'x axis': panel.x.label,
      x,
      'x in words': named(panel.x, x),
      'y axis': panel.y.label,
      y,
      'y in words': named(panel.y, y),
      low,
      high,
      'off the line': apart ? 'yes' : null,
      name: title,
      ...boxes.find((box) => box.x === x),
      ...Object.fromEntries(facts),
    })),
  );
}

function mapRows({ panel, map, view }) {
  return map.grid.place.map(([row, column], cell) => ({
    panel: panel.title,
    [panel.y.label]: panel.rows[row],
    [panel.x.label]: panel.columns[column],
    [view.of]: view.value(cell),
  }));
}

// The lists of a series as the points of a chart.
function seriesOf(series, valuesOf) {
  const listed = (values) =>
    (typeof values === 'string' ? valuesOf(values, series.name) : values) || [];
  const named = ['x', 'y', 'low', 'high', 'hollow', 'apart', 'names'];
  const lists = Object.fromEntries(named.map((each) => [each, listed(series[each])]));
  const facts = Object.entries(series.facts || {}).map(([label, each]) => [label, listed(each)]);
  const points = lists.x.map((x, place) => ({
    x,
    y: lists.y[place],
    low: lists.low[place],
    high: lists.high[place],
    open: lists.hollow[place],
    apart: lists.apart[place],
    title: missing(lists.names[place]) ? null : `“${visible(lists.names[place])}”`,
    facts: facts
      .filter(([, values]) => !missing(values[place]))
      .map(([label, values]) => [label, values[place]]),
  }));
  const boxes =
    series.boxes &&
    lists.x
      .map((x, place) => ({
        x,
        ...Object.fromEntries(
          Object.entries(series.boxes).map(([name, values]) => [name, values[place]]),
        ),
      }))
      .filter((box) => !missing(box.median));
  return {
    id: series.name,
    label: series.label,
    look: series.look,
    hollow: points.length > 0 && points.every((point) => point.open),
    filledTo: series.filled_to,
    points,
    boxes,
  };
}

// Figures of a section: the switches they share, and side by side what is small.
function figuresPart({ figures, text }, clock) {
  const switches = createSwitches(figures);
  const made = figures.map((each) => createFigure(each, { switches, clock }));
  const rows = [];
  made.forEach(({ whole }, place) => {
    const { panels } = figures[place];
    const small = made[place].panels().length === 1 && !panels[0].rows;
    const last = rows[rows.length - 1];
    if (small && last && last.small && last.parts.length < 2) last.parts.push(whole);
    else rows.push({ small, parts: [whole] });
  });
  const whole = el(
    'div',
    null,
    switches.bar,
    text ? el('p', { class: 'where figures-note' }, text) : null,
    rows.map(({ parts }) => (parts.length > 1 ? el('div', { class: 'pair' }, parts) : parts)),
  );
  return { whole, made };
}
