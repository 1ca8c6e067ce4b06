// What each measured line is called and how it looks, and the frame around a figure.

const LINES = {
  distance: { name: 'distance d̃ (eq. 7)', colour: 0 },
  expected_printed: { name: 'expected, as printed (false)', colour: 1 },
  expected_appendix: { name: 'expected, eq. 24 (lower side)', colour: 2 },
  expected_upper: { name: 'expected, upper side', colour: 3 },
  bound_printed: { name: 'bound of Theorem 1.1', colour: 4, dash: true },
  bound_centroid: { name: 'centroid bound', colour: 5, dash: true },
  bound_lower: { name: 'sandwich, lower', colour: 6, dash: true },
  bound_upper: { name: 'sandwich, upper', colour: 7, dash: true },
  radius: { name: 'radius r', colour: 5 },
  separability: { name: 'separability N_s/N', colour: 0 },
  separability_printed_lower: { name: 'lower bound, eq. 11', colour: 4, dash: true },
  separability_printed_upper: { name: 'upper bound, eq. 11 (false)', colour: 1, dash: true },
  separability_lower: { name: 'lower bound, corrected', colour: 2, dash: true },
};
const SIDES = {
  printed: 'expected_printed',
  appendix: 'expected_appendix',
  upper: 'expected_upper',
};
const KNOWN_LINES = Object.keys(LINES);

function lineOf(measure) {
  return { id: measure, ...(LINES[measure] || { name: measure, colour: 6 }) };
}

// How many heads, windows and query rows stand behind what is drawn.
function behind(rows) {
  return `${headsBehind(rows)}. ${rowsBehind(rows)}`;
}

function headsBehind(rows) {
  const parts = [`${span(rows.map((row) => row.heads))} heads`];
  const windows = range(rows.map((row) => row.windows));
  if (windows)
    parts.push(
      `${span(rows.map((row) => row.windows))} ${windows[1] === 1 ? 'window' : 'windows'}`,
    );
  return parts.join(', ');
}

// A row counts if it has keys left over beside the N; fewer than those means that some were drawn.
function rowsBehind(rows) {
  const due = (row) => row.length - (row.keys === 'visible' ? row.top_n || 1 : 0);
  const sampled = rows.filter((row) => !missing(row.rows) && row.rows < 0.98 * due(row) - 1);
  const told = unique(sampled.map((row) => `${Math.round(row.rows)} of ${row.length}`));
  const few = told.length > 3 ? `${told[0]} to ${told[told.length - 1]}` : told.join(', ');
  const rest = sampled.length < rows.length ? ', all in the rest' : '';
  const first = told.length ? `${few} query rows on average${rest}` : 'All query rows that count';
  const from = unique(rows.map((row) => row.sampled_from)).filter((each) => !missing(each));
  return `${first}${from.length ? `; fewer from N = ${span(from)} on` : ''}.`;
}

function rowFacts(row) {
  const facts = [];
  if (!missing(row.rows))
    facts.push([
      'query rows',
      missing(row.length) ? sig(row.rows, 4) : `${sig(row.rows, 4)} of ${row.length}`,
    ]);
  return facts;
}

// What the shaded band means, if there is one.
function bandText(rows, over) {
  return rows.some((row) => !missing(row.low)) ? `Shaded: 95 % interval over ${over}.` : '';
}

// A figure: title, its own controls, what it cannot show, charts, caption.
function figure(id, title, charts, controls = []) {
  const said = el('p', { class: 'fallback', role: 'status', hidden: true });
  const caption = el('figcaption');
  const whole = el(
    'figure',
    { id, 'aria-labelledby': `${id}-title` },
    el('h3', { id: `${id}-title` }, title),
    controls.length ? el('div', { class: 'controls' }, controls) : null,
    said,
    el(
      'div',
      { class: charts.length > 1 ? 'charts many' : 'charts' },
      charts.map((chart) => chart.whole),
    ),
    caption,
  );
  return {
    whole,
    caption(...sentences) {
      caption.textContent = sentences.filter(Boolean).join(' ');
    },
    say(text) {
      said.textContent = text;
      said.hidden = !text;
    },
  };
}
