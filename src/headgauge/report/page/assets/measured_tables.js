// Small tables behind the claims that have no figure: assumptions, coverage, signs.

function behindClaims(paper) {
  const parts = [
    paper.vectors && vectorTable(rowsOf(paper.vectors)),
    paper.coverage && coverageTable(rowsOf(paper.coverage)),
    paper.signs && signTable(rowsOf(paper.signs)),
    paper.gains && gainTable(rowsOf(paper.gains)),
  ].filter(Boolean);
  if (!parts.length) return [];
  return [el('details', { class: 'behind' }, el('summary', null, BEHIND), parts)];
}

const BEHIND = 'The numbers behind the claims that have no figure';

function smallTable(title, said, columns, rows) {
  const made = table(columns, rows, { class: 'dense', label: title });
  return el('div', { class: 'small-table' }, el('h3', null, title), el('p', null, said), made.box);
}

const ofText = { title: 'Text', cell: (row) => row.text };
const numberOf = (title, cell, hint) => ({ title, cell, number: true, hint });
const interval = (row, value, digits) =>
  missing(row[value])
    ? DASH
    : fixed(row[value], digits) +
      (missing(row.low) ? '' : ` (${fixed(row.low, digits)} to ${fixed(row.high, digits)})`);
const fixed = (value, digits) => value.toFixed(digits).replace('-', '−');

function vectorTable(rows) {
  return smallTable(
    'Assumptions 1 and 2: isotropic, and a distance δ apart',
    'Vectors of a window, brought to unit length. n uniform ones have a mean cosine of 0 and an ' +
      'effective dimension of about nd/(n + d).',
    [
      ofText,
      { title: 'Vectors', cell: (row) => row.vectors },
      numberOf('Mean cosine', (row) => sig(row.mean_cosine, 3)),
      numberOf(
        'by set',
        (row) => `${sig(row.mean_cosine_low, 3)} to ${sig(row.mean_cosine_high, 3)}`,
        'The smallest and the largest set: a model, a layer or a KV head, as the kind has it',
      ),
      numberOf('Effective dimension', (row) => `${sig(row.effective_dim, 3)} of ${row.dim}`),
      numberOf('δ', (row) => sig(row.delta, 3), 'The smallest distance of two tokens in any set'),
      numberOf('Nearest other', (row) => sig(row.nearest, 3), 'Median distance, mean over sets'),
      numberOf('Coincide', (row) => percent(row.same, 1), 'Tokens that equal another'),
      numberOf('Sets × tokens', (row) => `${row.sets} × ${row.tokens}`),
    ],
    rows,
  );
}

function coverageTable(rows) {
  return smallTable(
    'What several heads of a layer separate together',
    `Of N = ${span(rows.map((row) => row.top_n))} tokens that all heads of a layer are asked for; ` +
      'independent: what heads that know nothing of each other would cover.',
    [
      ofText,
      numberOf('Heads', (row) => String(row.heads)),
      numberOf('Covered', (row) => interval(row, 'covered', 3)),
      numberOf('Independent', (row) => sig(row.independent, 3)),
      numberOf('1 − (1 − p)^H', (row) => sig(row.formula, 3), "The paper's formula with the mean p"),
      numberOf('One head, p', (row) => sig(row.separable, 3)),
      numberOf('Layers × rows', (row) => `${row.layers} × ${row.rows}`),
    ],
    rows,
  );
}

function signTable(rows) {
  return smallTable(
    'What goes with a head’s separability at N = 16',
    'Rank correlation over the heads of the model, with its 95 % interval.',
    [
      ofText,
      { title: 'Sign', cell: (row) => (DATA.words.measures[row.sign] || { title: row.sign }).title },
      numberOf('Correlation', (row) => interval(row, 'correlation', 2)),
      numberOf('Heads', (row) => String(row.heads)),
    ],
    rows,
  );
}

function gainTable(rows) {
  return smallTable(
    'What a colder or a length-aware rule changes',
    'On the same logits, at the longest L: of N_s/N the difference, of the Jacobian’s norm the ratio.',
    [
      ofText,
      { title: 'Of', cell: (row) => (row.measure === 'separability' ? `N_s/N at N = ${row.top_n}` : row.measure) },
      { title: 'Rule', cell: (row) => row.rule },
      { title: 'against', cell: (row) => row.against },
      numberOf('Change', (row) => interval(row, 'change', 3)),
      numberOf('Heads', (row) => String(row.heads)),
      numberOf('Windows', (row) => String(row.windows)),
      numberOf('Rows', (row) => sig(row.rows, 4)),
    ],
    rows,
  );
}
