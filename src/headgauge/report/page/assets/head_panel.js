// One head: its verdicts, its measures by window, its curves over N, what it looks at.

function createHeadPanel(heads) {
  const panel = { heads, number: 0, curves: null, figure: null };
  panel.whole = el('div', {
    class: 'head-panel',
    id: 'head-panel',
    tabindex: '-1',
    role: 'region',
    'aria-label': 'The chosen head',
  });
  // In the description stand names of columns; here are their values for the chosen head.
  const valuesOf = (name) =>
    name === 'top_n'
      ? panel.curves.ns
      : (panel.curves.measures[name] || []).map((each) => each[panel.number]);
  if (heads.figure)
    panel.figure = createFigure(heads.figure, {
      valuesOf,
      of: () => `${heads.names[panel.number]}, ${panel.curves.words}`,
      tallest: 280,
      heading: false,
    });
  return panel;
}

function showHead(panel, number, curves) {
  const { heads, figure } = panel;
  Object.assign(panel, { number, curves });
  const drawn = curves && figure;
  panel.whole.replaceChildren(
    el('h3', null, heads.names[number]),
    el(
      'p',
      { class: 'where' },
      headLink(heads.links[number]),
      `: ${heads.module[number]}; reads key and value head ${heads.kv[number]}; L = ${heads.length}`,
    ),
    ...headRole(heads, number),
    ...headVerdicts(heads, number),
    ...headDoes(heads, number),
    el('h4', null, 'Measures'),
    headMeasures(heads, number),
    ...similarHeads(heads, number),
    ...(drawn ? [el('h4', null, `Over N: ${curves.words}`), figure.whole] : []),
    ...headSpans(heads, number),
    el('h4', null, 'What it looks at'),
    ...headSamples(heads, number),
    ...headMatrix(heads, number),
  );
  if (drawn) figure.show();
}

// What it does and what it is worth.
function headRole({ roleOf, measures, effect_error: errors }, number) {
  const role = roleOf[number];
  const worth = (measures.effect || [])[number];
  const lines = [];
  if (!missing(role.role))
    lines.push(
      el('p', null, 'Role: ', markBadge(role.role)),
      givenBy(role, 'line'),
      role.meaning ? el('p', { class: 'remedy' }, prose(role.meaning)) : null,
      el('p', { class: 'where' }, prose(`Line: ${role.source}`)),
    );
  if (!missing(worth))
    lines.push(
      el(
        'p',
        null,
        'Effect: ',
        el('b', null, sig(worth, 3)),
        missing(errors[number]) ? '' : ` ± ${sig(errors[number], 2)}`,
        el('span', { class: 'where' }, ` ${DATA.words.measures.effect.unit}`),
      ),
    );
  return lines.length ? [el('div', { class: 'verdict-card' }, lines)] : [];
}

const UNSURE = {
  line: '; sampling error may decide which role it is',
  threshold: '; within sampling error of the threshold',
};

// The number that decided, and where the line is, or comes nearest to it; null without a number.
function givenBy(given, line) {
  const { what, measure, number, direction, threshold, flips, windows, unsure } = given;
  if (missing(number) || missing(threshold)) return null;
  const { title } = DATA.words.measures[measure] || { title: measure };
  const beyond = direction === 'above' ? number > threshold : number < threshold;
  const differ = missing(flips) ? '' : `; ${percent(flips)} of ${windows} windows differ`;
  return el(
    'p',
    null,
    prose(`${(what || measure).replace(measure, title)}: `),
    el('b', null, sig(number, 4)),
    `, ${beyond ? '' : 'not '}${direction} the ${line} ${sig(threshold)}`,
    `${beyond ? '' : ', the nearest'}${differ}`,
    unsure ? UNSURE[line] : '',
  );
}

// The sampling error of a mean, where only some rows were measured.
function within(errors, name, number) {
  const error = (errors[name] || [])[number];
  return missing(error) ? '' : ` ± ${sig(error, 2)}`;
}

// The measures of what it does, in groups: too many for one list.
function headDoes({ measures, names, errors }, number) {
  const groups = Object.entries(DATA.words.groups)
    .slice(1)
    .map(([title, held]) => [title, held.filter((name) => name in measures)])
    .filter(([, held]) => held.length);
  if (!groups.length) return [];
  const line = (name) => {
    const { title, unit, digits } = DATA.words.measures[name];
    return [
      el('dt', { title: unit }, prose(title)),
      el('dd', { class: 'number' }, measured(measures[name][number], digits), within(errors, name, number)),
    ];
  };
  return [
    el('h4', null, 'What it does'),
    el(
      'div',
      { class: 'does', role: 'group', 'aria-label': `What ${names[number]} does` },
      groups.map(([title, held]) => el('div', null, el('h5', null, title), el('dl', null, held.map(line)))),
    ),
  ];
}

function headVerdicts(heads, number) {
  const verdicts = heads.verdicts.filter((row) => row.of === number);
  return verdicts.map((row) =>
    el(
      'div',
      { class: 'verdict-card' },
      el('p', null, markBadge(row.verdict)),
      givenBy(row, 'threshold'),
      row.source
        ? el(
            'p',
            { class: 'where' },
            prose(missing(row.threshold) ? row.source : `Threshold: ${row.source}`),
          )
        : null,
      row.remedy ? el('p', { class: 'remedy' }, prose(row.remedy), mostTokens(row)) : null,
    ),
  );
}

function similarHeads({ similar, links, verdicts }, number) {
  if (!similar[number].length) return [];
  const of = (other) => verdicts.filter((row) => row.of === other).map((row) => row.verdict);
  return [
    el('h4', null, 'Similar heads'),
    el('p', { class: 'where' }, 'The nearest by all measures, each in its spread over heads.'),
    el(
      'ul',
      { class: 'similar' },
      similar[number].map((other) =>
        el('li', null, headLink(links[other]), of(other).map(markBadge)),
      ),
    ),
  ];
}

// For a verdict on a curve: how many tokens this very head may select.
function mostTokens({ what, measure, threshold, holds_up_to: most }) {
  if (missing(threshold) || what === measure) return null;
  return missing(most)
    ? ' For this head no N that was measured is.'
    : el('b', null, ` At most N = ${most} for this head.`);
}

function headMeasures(heads, number) {
  const { numbers, measures } = heads.windows;
  const over = numbers.length > 1;
  const windows = over ? numbers.map((window) => `Window ${window}`) : [];
  const [usual] = Object.values(DATA.words.groups);
  const rows = usual.filter((name) => name in heads.measures).map((name) => {
    const values = heads.measures[name];
    const { title, unit, digits } = DATA.words.measures[name];
    const told = (value, strong, error) => ({ value, digits, strong, error });
    return [
      [
        ['name', title],
        ['where', unit],
      ],
      told(values[number], true, within(heads.errors, name, number)),
      ...windows.map((_, place) => told(measures[name][place][number])),
    ];
  });
  const columns = [
    { title: 'Measure', kind: 'lines' },
    { title: over ? 'All windows' : 'Value', kind: 'own' },
    ...windows.map((title) => ({ title, kind: 'own' })),
  ];
  return table({ label: `Measures of ${heads.names[number]}`, look: 'dense', columns, rows }).whole;
}

// Its weight on parts of the text, beside what they would have if all keys had the same.
function headSpans({ spans, names }, number) {
  const rows = spans.map(({ name, mass, uniform }) => [name, mass[number], uniform[number]]);
  if (!rows.length) return [];
  const columns = [
    { title: 'Span' },
    { title: 'Weight', kind: 'fixed', digits: 3 },
    { title: 'If uniform', kind: 'fixed', digits: 3 },
  ];
  const label = `Spans of ${names[number]}`;
  return [el('h4', null, 'Spans'), table({ label, look: 'dense', columns, rows }).whole];
}

function headSamples(heads, number) {
  const { tokens, heads: sampled } = heads.samples;
  if (!sampled[number].length) return [el('p', null, 'No rows of this head were kept.')];
  return [
    el(
      'p',
      { class: 'where' },
      'Sampled query rows with their heaviest keys; ␣ is a space, ↵ a line break. ',
      'Bars: weight, from 0 to 1.',
    ),
    el(
      'div',
      { class: 'samples' },
      sampled[number].map(([window, row, seen, query, keys, texts, weights]) =>
        el(
          'div',
          { class: 'sample' },
          el(
            'p',
            { class: 'query' },
            token(tokens[query]),
            el('span', { class: 'where' }, `query ${row} of window ${window}, sees ${seen} keys`),
          ),
          el(
            'ol',
            null,
            keys.map((key, place) => sampleKey(key, tokens[texts[place]], weights[place])),
          ),
        ),
      ),
    ),
  ];
}

function sampleKey(key, text, weight) {
  const bar = el('span', { class: 'weight-bar', 'aria-hidden': 'true' }, el('span'));
  bar.firstChild.style.width = `${(100 * Math.min(1, weight)).toFixed(1)}%`;
  return el(
    'li',
    null,
    token(text),
    bar,
    el(
      'span',
      { class: 'number', title: sig(weight) },
      weight >= 0.0005 ? weight.toFixed(3) : '< 0.001',
    ),
    el('span', { class: 'where number' }, `@${key}`),
  );
}
