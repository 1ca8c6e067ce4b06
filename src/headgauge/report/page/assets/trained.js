// A training: one slider over its steps, and what follows it: a map of all heads, the lines of all
// and of one.
//
// steps: the last of each part; measures: by name {last, low, high: by part a list over heads, rare:
// what is not taken at every logged step}; marks: [step, alarm, raised or cleared, head]; letters:
// of alarms; above: the figures before the map

const STEPS_OF_TRAINING = {
  label: 'Step',
  between: false,
  first: 1, // what is newest is what a reader asks first
  told: (step) => `step ${step}`,
};

function trainedPart(given) {
  const { steps, names, links } = given;
  const clock = steps.length > 1 ? createClock(steps, STEPS_OF_TRAINING) : STILL;
  const state = { what: given.first, number: 0, part: steps.length - 1 };
  const legend = el('div', { class: 'map-legend' });
  const panel = el('div', { class: 'head-panel', tabindex: '-1', role: 'region' });
  panel.setAttribute('aria-label', 'The chosen head');
  const values = el('div');
  const grid = {
    ...given,
    name: (number) => names[number],
    corner: 'layer ↓  head →',
    room: 300,
    told: ' of every head; arrow keys move, Enter opens a head',
    edges: true,
  };
  const map = createHeatMap(grid, (number) => open(number));
  const scales = new Map(); // by measure: the same colours at every step
  const own = createFigure(given.figure, {
    valuesOf: (name) => lineOfHead(given, state, name),
    of: () => `${names[state.number]}, ${titleOf(state.what)}`,
    tallest: 260,
    heading: false,
    clock,
  });

  function show() {
    const held = given.measures[state.what];
    if (!scales.has(state.what))
      scales.set(state.what, colouring(held.last.flat(), wordsOf(state.what)));
    const view = trainedView(given, state, scales.get(state.what));
    drawHeatMap(map, view);
    legend.replaceChildren(view.legend);
    values.replaceChildren(valuesOfHead(given, state));
  }
  function open(number) {
    state.number = number;
    hideTip();
    panel.replaceChildren(
      el('h3', null, names[number]),
      el('p', { class: 'where' }, `${links[number]}: ${given.module[number]}`),
      el('h4', null, `${titleOf(state.what)} over steps`),
      own.whole,
      el('h4', null, 'All its measures'),
      values,
    );
    own.show();
    values.replaceChildren(valuesOfHead(given, state));
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

  const options = Object.keys(given.measures).map((name) => [name, titleOf(name)]);
  const pick = select('Colour by', options, state.what, (value) => {
    state.what = value;
    show();
    open(state.number);
  });
  pick.box.id = 'map-measure';
  const list =
    given.alarms &&
    table(given.alarms, (place) => {
      const [step, , , number] = given.marks[place];
      clock.go(Math.max(0, steps.findIndex((each) => each >= step)));
      if (missing(number)) return;
      markCell(map, number, false);
      open(number);
      panel.scrollIntoView({ block: 'nearest' });
    });

  const [above, below] = [given.above, given.figures].map(
    (figures) => figuresPart({ figures }, clock).whole,
  );
  clock.follow((_step, part) => {
    state.part = part;
    show();
  });
  show();
  open(firstAlarmed(given));
  markCell(map, state.number, false);
  clock.start();
  if (window.location.hash) requestAnimationFrame(follow);
  return el(
    'div',
    { class: 'timed' },
    clock.bar,
    above,
    el('h3', null, 'Every head at this step'),
    el('div', { class: 'controls' }, pick.whole),
    mapAndPanel(map, legend, panel),
    list ? list.whole : null,
    below,
  );
}

// The head of the last alarm, or the first head.
function firstAlarmed({ marks }) {
  const raised = marks.filter(([, , how, number]) => how === 'raised' && !missing(number));
  return raised.length ? raised[raised.length - 1][3] : 0;
}

// By head the alarms that are raised at the end of a part.
function raisedAt({ marks, steps }, part) {
  const raised = new Map();
  for (const [step, alarm, how, number] of marks) {
    if (step > steps[part]) break;
    if (!raised.has(number)) raised.set(number, new Set());
    if (how === 'raised') raised.get(number).add(alarm);
    else raised.get(number).delete(alarm);
  }
  return raised;
}

// Of what is taken now and then, the part it was last taken in.
function takenIn({ last, rare }, part) {
  let at = part;
  while (rare && at > 0 && last[at].every(missing)) at -= 1;
  return at;
}

function trainedView(given, { what, part }, scaleOf) {
  const at = takenIn(given.measures[what], part);
  const now = given.measures[what].last[at];
  const raised = raisedAt(given, part);
  const alarms = (number) => [...(raised.get(number) || [])].sort();
  const measure = wordsOf(what);
  const title = `${measure.title} at step ${given.steps[at]}`;
  const colour = (number) => scaleOf.colour(now[number]);
  const shown = (number) => (missing(now[number]) ? 'no finite number' : sig(now[number], 4));
  const some = unique([...raised.values()].flatMap((each) => [...each]));
  return {
    title,
    value: (number) => now[number],
    colour,
    text: (number) => [`${measure.title}: ${shown(number)}`, ...alarms(number)].join('; '),
    // A cell with alarms keeps its colour and gets their letters.
    stripes: (number) => {
      const look = { colour: colour(number), ink: inkOn(colour(number)) };
      const marks = alarms(number).map((each) => ({ letter: given.letters[each], ...look }));
      return marks.length ? marks : null;
    },
    legend: el(
      'div',
      null,
      colourLegend(scaleOf),
      at < part ? el('p', { class: 'where' }, `Taken last at step ${given.steps[at]}.`) : null,
      now.some(missing) ? el('p', { class: 'where' }, 'Grey: no finite number.') : null,
      some.length
        ? el('p', { class: 'where' }, some.map((each) => `${given.letters[each]}: ${each}`).join('; '))
        : null,
    ),
  };
}

// Black or white, whichever is read more easily on `rgb(…)` or `#…`.
function inkOn(colour) {
  const parts = colour.startsWith('#') ? channels(colour) : colour.match(/\d+/g).map(Number);
  const [red, green, blue] = parts.map((each) => (each / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? 'black' : 'white';
}

function lineOfHead({ steps, measures }, { what, number }, name) {
  if (name === 'steps') return steps;
  return (measures[what][name] || []).map((part) => part[number]);
}

// Every measure of a head at the slider's step, beside what it was first and last.
function valuesOfHead({ measures, steps, names }, { number, part }) {
  const columns = [
    { title: 'Measure' },
    { title: `Step ${steps[part]}`, kind: 'number' },
    { title: 'First', kind: 'number' },
    { title: 'Last', kind: 'number' },
  ];
  const rows = Object.entries(measures).map(([name, measure]) => {
    const line = measure.last.map((each) => each[number]);
    const known = line.filter((each) => !missing(each));
    const now = line[takenIn(measure, part)];
    return [titleOf(name), round(now), round(known[0]), round(known[known.length - 1])];
  });
  return table({ columns, rows, label: `Measures of ${names[number]}`, look: 'dense' }).whole;
}
