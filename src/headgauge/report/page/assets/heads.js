// The section on heads: what the map shows, and the head that was chosen on it.

const CURVE_MEASURES = ['separability', 'distance', 'radius'];

function headsSection(heads) {
  const panel = createHeadPanel(heads);
  const state = { what: 'verdicts', curves: usualCurves(heads.curves), n: null };
  const verdictsOf = heads.head.map(() => []);
  rowsOf(heads.verdicts).forEach((row) => verdictsOf[row.of].push(row.verdict));
  const legend = el('div', { class: 'map-legend' });
  const map = createHeatMap(headGrid(heads), (number) => open(number, true));
  const list = createHeadList(heads, (number) => {
    markCell(map, number, false);
    open(number, true);
  });

  function open(number, moved) {
    showHead(panel, number, state.curves === null ? null : heads.curves[state.curves]);
    if (!moved) return;
    hideTip();
    const box = panel.whole.getBoundingClientRect();
    // On a phone the panel lies below the map: go there, or nothing seems to happen.
    if (box.top > window.innerHeight * 0.7 || box.top < 0)
      panel.whole.scrollIntoView({ block: 'start' });
  }

  const pickWhat = select('Colour by', whatOptions(heads), state.what, (value) => {
    state.what = value;
    show();
  });
  pickWhat.box.id = 'map-measure';
  const pickN = select('N', [], '', (value) => {
    state.n = Number(value);
    show();
  });
  pickN.box.id = 'map-n';
  const pickCurves = select(
    'Vectors and keys',
    heads.curves.map((each, place) => [place, choiceText(each)]),
    state.curves,
    (value) => {
      state.curves = Number(value);
      show();
      open(panel.number, false);
    },
  );
  pickCurves.box.id = 'map-choice';
  pickCurves.whole.hidden = heads.curves.length < 2;

  function show() {
    const isCurve = state.what.startsWith('curve ');
    const curves = state.curves === null ? null : heads.curves[state.curves];
    if (curves) {
      if (!curves.ns.includes(state.n)) state.n = nearestTo(curves.ns, state.n || 16);
      setOptions(
        pickN.box,
        curves.ns.map((each) => [each, String(each)]),
        state.n,
      );
    }
    pickN.whole.hidden = !isCurve;
    const view =
      state.what === 'verdicts'
        ? verdictView(verdictsOf)
        : measureView(heads, state.what, curves, state.n);
    drawHeatMap(map, view);
    legend.replaceChildren(view.legend);
  }
  show();
  open(0, false);
  const whole = section(
    'heads',
    `Heads${onFirstText()}`,
    el('div', { class: 'controls' }, pickWhat.whole, pickN.whole, pickCurves.whole),
    el(
      'div',
      { class: 'map-and-panel' },
      el(
        'div',
        { class: 'map-side' },
        legend,
        el('div', { class: 'map-scroll' }, map.picture),
        el('p', { class: 'where' }, 'Press a cell to open its head.'),
      ),
      panel.whole,
    ),
    list.whole,
  );
  return {
    whole,
    first() {
      markCell(map, heads.table.of[0] || 0, false);
      open(heads.table.of[0] || 0, false);
    },
    filter: list.filter,
  };
}

function nearestTo(values, wanted) {
  return values.reduce(
    (best, each) => (Math.abs(each - wanted) < Math.abs(best - wanted) ? each : best),
    values[0],
  );
}

function usualCurves(curves) {
  if (!curves.length) return null;
  const place = curves.findIndex((each) =>
    ['vectors', 'scale', 'keys'].every((field) => each[field] === USUAL[field]),
  );
  return Math.max(0, place);
}

function whatOptions(heads) {
  const options = [
    ['verdicts', 'Verdicts'],
    ...Object.keys(heads.measures).map((name) => [name, DATA.words.measures[name].title]),
  ];
  if (heads.curves.length)
    for (const name of CURVE_MEASURES)
      options.push([`curve ${name}`, `${DATA.words.measures[name].title} at N`]);
  return options;
}

function verdictView(verdictsOf) {
  const there = Object.keys(DATA.words.marks).filter((name) =>
    verdictsOf.some((names) => names.includes(name)),
  );
  return {
    title: 'Verdicts',
    stripes: (number) => (verdictsOf[number].length ? verdictsOf[number] : ['incomplete']),
    text: (number) => verdictsOf[number].join(', ') || 'no verdict',
    legend: el(
      'ul',
      { class: 'verdict-legend' },
      there.map((name) => el('li', null, verdictBadge(name))),
    ),
  };
}

function measureView(heads, what, curves, n) {
  const isCurve = what.startsWith('curve ');
  const name = isCurve ? what.slice(6) : what;
  const measure = DATA.words.measures[name];
  const values = isCurve
    ? (curves.measures[name] || [])[curves.ns.indexOf(n)] || []
    : heads.measures[name];
  const colours = colouring(values, measure);
  const title = isCurve ? `${measure.title} at N = ${n}` : measure.title;
  return {
    title,
    colour: (number) => (missing(values[number]) ? '#9aa0a5' : colours.colour(values[number])),
    text: (number) => `${title}: ${missing(values[number]) ? 'not seen' : sig(values[number])}`,
    legend: el(
      'div',
      null,
      colourLegend(colours, measure),
      values.some(missing) ? el('p', { class: 'where' }, 'Grey: not seen.') : null,
    ),
  };
}
