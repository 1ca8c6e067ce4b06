// Sides held against each other: a map of what differs between two, one head on all of them, and the
// heads that differ most. What a side is, a run or a rule, only its words say.

const MOST_DIFFERING = 15;
const ALONE = '-1'; // held against nothing: the side itself

function comparedPart(given) {
  const { names, links, sides } = given;
  const state = { what: given.first, side: sides.length - 1, against: 0, number: 0 };
  const legend = el('div', { class: 'map-legend' });
  const panel = el('div', { class: 'head-panel', tabindex: '-1', role: 'region' });
  panel.setAttribute('aria-label', 'The chosen head');
  const grid = {
    ...given,
    name: (number) => names[number],
    corner: 'layer ↓  head →',
    room: 300,
    told: ' of every head; arrow keys move, Enter opens a head',
    edges: true,
  };
  const map = createHeatMap(grid, (number) => open(number));
  const list = table(listOf(given, state), (number) => {
    markCell(map, number, false);
    open(number);
  });
  const drawn =
    given.figure &&
    createFigure(given.figure, {
      valuesOf: (name) => seriesOfHead(given, state, name),
      of: () => `${names[state.number]}, ${titleOf(state.what)}`,
      tallest: 240,
      heading: false,
    });

  function open(number) {
    state.number = number;
    hideTip();
    panel.replaceChildren(
      el('h3', null, names[number]),
      ...marksOfHead(given, number),
      ...(drawn && isMeasure(state.what)
        ? [el('h4', null, `${titleOf(state.what)} over the ${given.what}s`), drawn.whole]
        : []),
      el('h4', null, 'Measures'),
      measuresOfHead(given, state, number),
    );
    if (drawn && isMeasure(state.what)) drawn.show();
  }
  function follow() {
    const number = links.indexOf(window.location.hash.slice(1));
    if (number < 0) return;
    markCell(map, number, false);
    open(number);
    panel.scrollIntoView({ block: 'start' });
    panel.focus({ preventScroll: true });
  }
  window.addEventListener('hashchange', follow);

  const pick = (id, title, options, value, changed) => {
    const made = select(title, options, value, changed);
    made.box.id = id;
    return made.whole;
  };
  const numbered = sides.map((side, place) => [String(place), side]);
  const set = (name) => (value) => {
    state[name] = name === 'what' ? value : Number(value);
    show();
    open(state.number);
  };
  const controls = [
    pick('map-measure', 'Colour by', comparedOptions(given), state.what, set('what')),
    pick('map-side', `The ${given.what}`, numbered, String(state.side), set('side')),
    pick(
      'map-against',
      'against',
      [...numbered, [ALONE, `nothing: the ${given.what} itself`]],
      String(state.against),
      set('against'),
    ),
  ];

  function show() {
    const view = isMeasure(state.what) ? differenceView(given, state) : marksView(given, state);
    map.faint = view.faint || (() => false);
    drawHeatMap(map, view);
    legend.replaceChildren(view.legend);
    list.update(listOf(given, state).rows);
    list.whole.hidden = !isMeasure(state.what);
  }
  show();
  open(mostDiffering(given, state)[0] || 0);
  markCell(map, state.number, false);
  if (window.location.hash) requestAnimationFrame(follow);
  return el(
    'div',
    null,
    el('div', { class: 'controls' }, controls),
    mapAndPanel(map, legend, panel),
    list.whole,
  );
}

const MARKS = { verdicts: ['verdict', 'Verdicts'], roles: ['role', 'Roles'] };
const isMeasure = (what) => !(what in MARKS);
const wordsOf = (name) => DATA.words.measures[name] || { title: name, unit: '' };
const titleOf = (name) => wordsOf(name).title;

function comparedOptions({ measures, marks }) {
  const titled = (names) => names.map((name) => [name, titleOf(name)]);
  const grouped = Object.entries(DATA.words.groups).map(([group, held]) => [
    group,
    titled(held.filter((name) => name in measures)),
  ]);
  const known = Object.values(DATA.words.groups).flat();
  const rest = titled(Object.keys(measures).filter((name) => !known.includes(name)));
  return [
    ...Object.entries(MARKS)
      .filter(([, [kind]]) => marks[kind].some((side) => side.some((own) => own.length)))
      .map(([value, [, title]]) => [value, title]),
    ...rest,
    ...grouped.filter(([, held]) => held.length),
  ];
}

// By head the number on a side, or its difference from that on another.
function valuesBetween({ measures }, { what, side, against }) {
  const own = measures[what][side];
  if (against < 0) return own;
  const other = measures[what][against];
  return own.map((value, number) =>
    missing(value) || missing(other[number]) ? null : value - other[number],
  );
}

// Known for the pairs that were held against each other, whichever way round.
function errorsBetween({ errors }, { side, against }, what) {
  const known = errors[`${side} ${against}`] || errors[`${against} ${side}`];
  return (known && known[what]) || [];
}

function pairWords({ sides }, { side, against }) {
  return against < 0 ? sides[side] : `${sides[side]} − ${sides[against]}`;
}

function differenceView(given, state) {
  const values = valuesBetween(given, state);
  const errors = errorsBetween(given, state, state.what);
  const measure = wordsOf(state.what);
  const apart = state.against >= 0;
  const scaleOf = colouring(
    values,
    apart ? { unit: pairWords(given, state), centre: 0 } : measure,
  );
  const title = `${measure.title}: ${pairWords(given, state)}`;
  const error = (number) =>
    apart && !missing(errors[number]) ? ` ± ${sig(errors[number], 2)}` : '';
  const shown = (number) =>
    missing(values[number])
      ? 'not measured'
      : (apart && values[number] > 0 ? '+' : '') + sig(values[number], 3) + error(number);
  return {
    title,
    value: (number) => values[number],
    colour: (number) => scaleOf.colour(values[number]),
    text: (number) => `${title}: ${shown(number)}`,
    legend: el(
      'div',
      null,
      colourLegend(scaleOf),
      values.some(missing) ? el('p', { class: 'where' }, 'Grey: not measured.') : null,
    ),
  };
}

// Verdicts or roles of a side; heads that have the same on the other stand back.
function marksView(given, state) {
  const [kind, title] = MARKS[state.what];
  const own = given.marks[kind][state.side];
  const other = given.marks[kind][state.against];
  const same = (number) => other && own[number].join() === other[number].join();
  const view = markView(`${title} in ${given.sides[state.side]}`, own);
  const before = (number) =>
    !other || same(number) ? '' : ` (${other[number].join(', ') || 'none'} before)`;
  return {
    ...view,
    text: (number) => view.text(number) + before(number),
    faint: (number) => Boolean(other) && same(number),
    legend: el(
      'div',
      null,
      view.legend,
      other ? el('p', { class: 'where' }, 'Pale: the same in both.') : null,
    ),
  };
}

function mostDiffering(given, state) {
  if (!isMeasure(state.what)) return [];
  const values = valuesBetween(given, state);
  return given.names
    .map((_, number) => number)
    .filter((number) => !missing(values[number]))
    .sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]))
    .slice(0, MOST_DIFFERING);
}

function listOf(given, state) {
  const columns = [
    { title: 'Head', kind: 'link' },
    { title: 'Difference', kind: 'signed', right: true },
    { title: 'Value', kind: 'number' },
    { title: 'Held against', kind: 'number' },
    { title: 'Verdicts', kind: 'marks' },
  ];
  const { measures, marks, names } = given;
  const values = isMeasure(state.what) ? valuesBetween(given, state) : [];
  const errors = errorsBetween(given, state, state.what);
  const rows = mostDiffering(given, state).map((number) => [
    [number, names[number]],
    [state.against < 0 ? null : values[number], errors[number]],
    round(measures[state.what][state.side][number]),
    state.against < 0 ? null : round(measures[state.what][state.against][number]),
    marks.verdict[state.side][number],
  ]);
  return { columns, rows, title: 'Heads that differ most in this', look: 'dense' };
}

const round = (value) => (missing(value) ? null : Number(value.toPrecision(4)));

function marksOfHead({ marks, sides }, number) {
  return Object.values(MARKS)
    .filter(([kind]) => marks[kind].some((own) => own[number].length))
    .map(([kind, title]) => {
      const told = marks[kind].map((own) => own[number]);
      const same = told.every((each) => each.join() === told[0].join());
      const line = (each) => (each.length ? each.map(markBadge) : 'none');
      return el(
        'p',
        null,
        `${title}: `,
        same ? [line(told[0]), sides.length > 1 ? ' throughout' : ''] : null,
        same ? null : told.map((each, side) => el('span', null, ` ${sides[side]}: `, line(each))),
      );
    });
}

// A line for each measure: what it is on every side, and the difference of the chosen two.
function measuresOfHead(given, state, number) {
  const { sides, measures } = given;
  const several = state.against >= 0;
  const columns = [
    { title: 'Measure' },
    ...(several ? [{ title: pairWords(given, state), kind: 'signed', right: true }] : []),
    ...sides.map((title) => ({ title, kind: 'number' })),
  ];
  const rows = Object.keys(measures).map((what) => {
    const values = valuesBetween(given, { ...state, what });
    const errors = errorsBetween(given, state, what);
    const own = measures[what].map((side) => round(side[number]));
    return [titleOf(what), ...(several ? [[values[number], errors[number]]] : []), ...own];
  });
  return table({ columns, rows, label: 'Measures of the head', look: 'dense', tall: true }).whole;
}

// What stands for a name in the description of a head's line.
function seriesOfHead({ sides, measures, own_errors: errors = {} }, { what, number }, name) {
  const value = (measures[what] || []).map((side) => side[number]);
  const bars = (errors[what] || []).map((side) => side[number]);
  const ends = (sign) =>
    value.map((each, side) => (missing(bars[side]) ? null : each + sign * bars[side]));
  return { sides: sides.map((_, place) => place), value, low: ends(-1), high: ends(1) }[name];
}
