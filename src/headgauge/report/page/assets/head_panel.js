// One head: its verdicts, its measures by window, its curves over N, what it looks at.

const DISTANCE_LINES = [
  'distance',
  'expected_printed',
  'expected_appendix',
  'expected_upper',
  'bound_printed',
  'bound_lower',
  'bound_upper',
];
const SHARE_LINES = [
  'separability',
  'separability_printed_lower',
  'separability_printed_upper',
  'separability_lower',
];

function createHeadPanel(heads) {
  const panel = {
    heads,
    number: 0,
    whole: el('div', {
      class: 'head-panel',
      id: 'head-panel',
      tabindex: '-1',
      role: 'region',
      'aria-label': 'The chosen head',
    }),
    distance: createChart({
      title: 'Distance',
      label: 'Distance over N',
      logX: true,
      logY: true,
      canX: true,
      canY: true,
      tallest: 280,
      hidden: ['bound_printed', 'bound_lower', 'bound_upper'],
    }),
    share: createChart({
      title: 'Separability',
      label: 'Separability over N',
      logX: true,
      canX: true,
      tallest: 280,
    }),
  };
  return panel;
}

function showHead(panel, number, curves) {
  const { heads } = panel;
  panel.number = number;
  const parts = [
    el('h3', null, headName(heads, number)),
    el(
      'p',
      { class: 'where' },
      `${heads.module[number]}; reads key and value head ${heads.kv[number]}; L = ${heads.length}`,
    ),
    ...headVerdicts(heads, number),
    el('h4', null, 'Measures'),
    headMeasures(heads, number),
  ];
  if (curves)
    parts.push(
      el('h4', null, `Over N: ${choiceText(curves)}`),
      el('div', { class: 'charts many' }, panel.distance.whole, panel.share.whole),
    );
  parts.push(el('h4', null, 'What it looks at'), ...headSamples(heads, number));
  panel.whole.replaceChildren(...parts);
  if (curves) {
    showChart(panel.distance, {
      x: { label: 'N', name: 'N' },
      y: { label: 'distance' },
      series: headSeries(curves, number, DISTANCE_LINES),
    });
    showChart(panel.share, {
      x: { label: 'N', name: 'N' },
      y: { label: DATA.paper ? BAND_TEXT : 'N_s/N' },
      series: headSeries(curves, number, SHARE_LINES),
      shades: DATA.paper ? [BAND] : [],
    });
  }
}

function headSeries(curves, number, measures) {
  return measures
    .filter((measure) => measure in curves.measures)
    .map((measure) => ({
      ...lineOf(measure),
      band: false,
      points: curves.ns.map((n, place) => ({ x: n, y: curves.measures[measure][place][number] })),
    }))
    .filter((series) => series.points.some((point) => !missing(point.y)));
}

function headVerdicts(heads, number) {
  const verdicts = rowsOf(heads.verdicts).filter((row) => row.of === number);
  return verdicts.map((row) => {
    const measure = DATA.words.measures[row.measure];
    const what = measure && row.what === row.measure ? measure.title : row.what;
    const told =
      missing(row.number) || missing(row.threshold)
        ? null
        : el(
            'p',
            null,
            `${what}: `,
            el('b', null, sig(row.number, 4)),
            `, ${row.direction} the threshold ${sig(row.threshold)}`,
            missing(row.flips) ? '' : `; ${percent(row.flips)} of ${row.windows} windows differ`,
          );
    return el(
      'div',
      { class: 'verdict-card' },
      el('p', null, verdictBadge(row.verdict)),
      told,
      row.source
        ? el(
            'p',
            { class: 'where' },
            missing(row.threshold) ? row.source : `Threshold: ${row.source}`,
          )
        : null,
      row.remedy ? el('p', { class: 'remedy' }, row.remedy) : null,
    );
  });
}

function headMeasures(heads, number) {
  const { numbers, measures } = heads.windows;
  const names = Object.keys(heads.measures);
  const over = numbers.length > 1;
  const columns = [
    {
      title: 'Measure',
      cell: (name) => [
        DATA.words.measures[name].title,
        el('span', { class: 'where' }, DATA.words.measures[name].unit),
      ],
    },
    {
      title: over ? 'All windows' : 'Value',
      number: true,
      cell: (name) =>
        el('b', null, measured(heads.measures[name][number], DATA.words.measures[name])),
    },
  ];
  if (over) {
    numbers.forEach((window, place) =>
      columns.push({
        title: `Window ${window}`,
        number: true,
        cell: (name) =>
          name in measures
            ? measured(measures[name][place][number], DATA.words.measures[name])
            : DASH,
      }),
    );
  }
  return table(columns, names, { class: 'dense', label: 'Measures of the head' }).box;
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
