// The verdict on the paper, and what hangs on the choices it leaves open.

const WORDS = {
  reproduced: ['good', '✓'],
  'reproduced only with the printed formula': ['partly', '◐'],
  'not reproduced': ['bad', '✗'],
  'cannot be tested here': ['open', '?'],
  true: ['good', '✓'],
  'true with a condition': ['partly', '◐'],
  'true but vacuous': ['open', '○'],
  misprint: ['partly', '✎'],
  false: ['bad', '✗'],
  'not implied': ['open', '?'],
};

function badge(word) {
  const [kind, sign] = WORDS[word] || ['open', '•'];
  return el(
    'span',
    { class: `badge ${kind}` },
    el('span', { 'aria-hidden': 'true' }, `${sign} `),
    word,
  );
}

function countWords(words) {
  const known = Object.keys(WORDS);
  const found = unique(words).sort((a, b) => known.indexOf(a) - known.indexOf(b));
  return found.map((word) => [word, words.filter((each) => each === word).length]);
}

function paperVerdicts(columns) {
  const made = table(
    [
      {
        title: 'Claim',
        cell: (row) => [
          el('b', null, row.claim),
          el('span', { class: 'where' }, row.where),
          el('span', { class: 'statement' }, row.statement),
        ],
      },
      { title: 'Paper', cell: (row) => row.paper },
      { title: 'Ours, as printed', cell: (row) => row.printed },
      { title: 'Ours, corrected', cell: (row) => row.corrected },
      {
        title: 'Verdict',
        cell: (row) => [
          badge(row.verdict),
          row.comment ? el('p', { class: 'comment' }, row.comment) : null,
        ],
      },
    ],
    rowsOf(columns),
    { class: 'cards verdict-table', label: 'The verdict on the paper' },
  );
  return section('verdict', 'The verdict on the paper', made.box);
}

function paperChoices(columns) {
  const share = (name) => (row) => (missing(row[name]) ? DASH : row[name].toFixed(2));
  const count = (name) => (row) => sig(row[name]);
  const column = (title, cell, name, hint) => ({
    title,
    cell,
    number: true,
    sort: (row) => row[name],
    hint,
  });
  const made = table(
    [
      { title: 'Vectors', cell: (row) => row.vectors, sort: (row) => row.vectors },
      { title: 'Length', cell: (row) => row.scale, sort: (row) => row.scale },
      { title: 'Keys', cell: (row) => row.keys, sort: (row) => row.keys },
      column(
        'Agrees',
        (row) =>
          el(
            'span',
            { class: 'together' },
            row.closest ? el('span', { class: 'badge good' }, 'closest') : null,
            ` ${row.agrees}`,
          ),
        'agrees',
        "How many of the paper's numbers it meets",
      ),
      column(
        'Critical N',
        count('critical_n'),
        'critical_n',
        'Printed expectation, level .01, longest L',
      ),
      column('of L', (row) => percent(row.critical_share, 1), 'critical_share'),
      column('Critical N, eq. 24', count('critical_n_corrected'), 'critical_n_corrected'),
      column('N_s/N at 16', share('separability_at_16'), 'separability_at_16', 'Mean over heads'),
      column(
        'Plateau',
        (row) => `${share('plateau_low')(row)}–${share('plateau_high')(row)}`,
        'plateau_low',
        'Least and largest mean over heads for N from 16 on',
      ),
      column('Heads in .70–.85', (row) => percent(row.heads_in_band), 'heads_in_band'),
      column('Rows', (row) => sig(row.rows, 4), 'rows', 'Query rows behind a number'),
    ],
    rowsOf(columns),
    {
      label: 'Choices of vectors and keys',
      row(line, row) {
        if (row.closest) line.classList.add('chosen');
      },
    },
  );
  return section(
    'choices',
    'What hangs on the choices',
    el(
      'p',
      null,
      'The paper leaves open which vectors and which keys it means. Each choice beside its ',
      'numbers; the one that meets most of them is marked.',
    ),
    made.box,
  );
}

function paperTiming(rows) {
  const made = table(
    [
      { title: 'Algorithm', cell: (row) => row.algorithm || DASH },
      { title: 'What', cell: (row) => row.what || DASH },
      { title: 'Paper', number: true, cell: (row) => seconds(row.paper_seconds) },
      {
        title: 'Literal loop here',
        number: true,
        cell: (row) => [
          seconds(row.literal_seconds),
          extrapolated(row)
            ? el(
                'span',
                { class: 'where' },
                `extrapolated from ${sig(100 * row.literal_share, 2)} % of the work`,
              )
            : null,
        ],
      },
      { title: 'headgauge', number: true, cell: (row) => seconds(row.ours_seconds) },
      {
        title: 'Times faster',
        number: true,
        cell: (row) => (missing(row.ratio) ? DASH : `${sig(row.ratio, 3)} ×`),
        hint: 'Than the literal loop on this machine',
      },
      { title: 'Note', cell: (row) => row.note || '' },
    ],
    rows,
    { class: 'cards', label: 'Timing' },
  );
  return section(
    'timing',
    'Timing, beside Table 1',
    el(
      'p',
      null,
      "The paper's times come from its own machine and are there for scale only. ",
      'The ratio compares two ways on this one machine.',
    ),
    made.box,
  );
}

function extrapolated(row) {
  return !missing(row.literal_seconds) && !missing(row.literal_share) && row.literal_share < 1;
}
