// The verdict on the paper, text by text, and what depends on the choices it leaves open.

const ONE_TEXT = 'one text: not judged';
const WORDS = {
  reproduced: ['good', '✓'],
  'reproduced only with the printed formula': ['partly', '◐'],
  'depends on the text': ['partly', '≠'],
  'not reproduced': ['bad', '✗'],
  undecided: ['open', '~'],
  'too few rows to judge': ['open', '…'],
  [ONE_TEXT]: ['open', '1'],
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

function paperVerdicts(paper) {
  const readings = rowsOf(paper.readings);
  const of = (row) => readings.filter((each) => each.claim === row.claim);
  // What is said of every text alike is said once.
  const sameComment = (row) => unique(of(row).map((each) => each.comment)).length === 1;
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
      {
        title: 'Measured, text by text',
        cell: (row) =>
          el(
            'dl',
            { class: 'readings' },
            of(row).map((each) => reading(each, row, sameComment(row))),
          ),
      },
      {
        title: 'Verdict',
        cell: (row) => [
          badge(row.verdict),
          row.texts && row.verdict !== ONE_TEXT
            ? el('p', { class: 'held' }, `held on ${row.held} of ${plural(row.texts, 'text')}`)
            : null,
          unique([row.comment, sameComment(row) ? of(row)[0].comment : '']).map((said) =>
            said ? el('p', { class: 'comment' }, said) : null,
          ),
        ],
      },
    ],
    rowsOf(paper.verdicts),
    { class: 'cards verdict-table', label: 'The verdict on the paper' },
  );
  return section('verdict', 'The verdict on the paper', made.box, ...behindClaims(paper));
}

function reading(row, joint, saidOnce) {
  const corrected = !['', 'same', row.printed].includes(row.corrected);
  return [
    el(
      'dt',
      null,
      textName(row.text),
      row.verdict === joint.verdict ? null : [' ', badge(row.verdict)],
    ),
    el('dd', null, row.printed, corrected ? [el('br'), `corrected: ${row.corrected}`] : null),
    row.comment && !saidOnce ? el('dd', { class: 'comment' }, row.comment) : null,
  ];
}

function paperChoices(paper) {
  const everything = rowsOf(paper.choices);
  const texts = unique(everything.map((row) => row.text));
  const of = (text) => everything.filter((row) => row.text === text);
  const pick = select(
    'Text',
    texts.map((each) => [each, textName(each)]),
    texts[0],
    (value) => made.update(of(value)),
  );
  pick.whole.hidden = texts.length < 2;
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
            row.measured ? el('span', { class: 'badge partly' }, 'judged') : null,
            row.closest ? [' ', el('span', { class: 'badge good' }, 'closest here')] : null,
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
    of(texts[0]),
    {
      label: 'Choices of vectors and keys',
      row(line, row) {
        if (row.measured) line.classList.add('chosen');
      },
    },
  );
  return section(
    'choices',
    'What depends on the choice',
    el(
      'p',
      null,
      'The paper leaves open which vectors and which keys it means. Each choice beside its ',
      'numbers; closest here: it meets most of them on this text, and is the nearest of those that ',
      `do. ${judgedText(everything)}`,
    ),
    el('div', { class: 'controls' }, pick.whole),
    made.box,
  );
}

// Which choice the verdicts are about, and where it comes from.
function judgedText(rows) {
  const judged = rows.find((row) => row.measured);
  if (!judged) return '';
  const { texts, chosen_on: on } = DATA.paper;
  const name = `${judged.vectors} vectors, ${judged.scale} length, ${judged.keys} keys`;
  if (on === null) return `The verdicts are about ${name}, as asked for.`;
  const kept = rows.some((row) => row.text === on && row.closest && row.measured);
  return [
    `The verdicts are about ${name}, the closest on ${on} by equally many rows of every choice`,
    kept ? '' : '; measured in full, another is closer there',
    texts.length < 2 ? '; with no second text to judge on, no claim is judged.' : '.',
  ].join('');
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
