// All heads in a table, the worst first; by verdict, sorted by any number.

const LISTED = [
  'sink_weight',
  'separability',
  'jacobian_norm',
  'output_ratio',
  'entropy_share',
  'max_logit',
];

function createHeadList(heads, chosen) {
  const rows = rowsOf(heads.table).map((row) => ({
    ...row,
    names: row.verdicts.split(', '),
    layer: heads.layer[row.of],
    head: heads.head[row.of],
    value: (name) => (name in heads.measures ? heads.measures[name][row.of] : row[name]),
  }));
  const there = LISTED.filter((name) => name in heads.measures || name in heads.table);
  const open = (row) =>
    el(
      'button',
      {
        type: 'button',
        class: 'link',
        'aria-label': `Open ${headName(heads, row.of)}`,
        on: { click: () => chosen(row.of) },
      },
      headName(heads, row.of),
    );
  const made = table(
    [
      { title: 'Head', cell: open, sort: (row) => row.layer * 1e4 + row.head },
      { title: 'Verdicts', cell: (row) => row.names.map(verdictBadge), class: 'verdicts' },
      ...there.map((name) => ({
        title: DATA.words.measures[name].heading,
        hint: `${DATA.words.measures[name].title}: ${DATA.words.measures[name].unit}`,
        number: true,
        cell: (row) => measured(row.value(name), DATA.words.measures[name]),
        sort: (row) => row.value(name),
      })),
      {
        title: 'windows differ',
        number: true,
        cell: (row) => percent(row.flips),
        sort: (row) => row.flips,
        hint: 'Share of windows in which a verdict would be another',
      },
    ],
    rows,
    {
      class: 'dense',
      label: 'All heads',
      row(line, row) {
        line.dataset.head = row.of;
      },
    },
  );
  made.box.classList.add('tall');
  const names = unique(rows.flatMap((row) => row.names));
  const known = Object.keys(DATA.words.marks).filter((name) => names.includes(name));
  const count = el('span', { class: 'where', role: 'status' });
  const pick = select(
    'Verdict',
    [
      ['', `all (${rows.length})`],
      ...unique([...known, ...names]).map((name) => [
        name,
        `${name} (${rows.filter((row) => row.names.includes(name)).length})`,
      ]),
    ],
    '',
    filter,
  );
  pick.box.id = 'verdict-filter';
  function filter(verdict) {
    const kept = verdict ? rows.filter((row) => row.names.includes(verdict)) : rows;
    made.update(kept);
    count.textContent = `${plural(kept.length, 'head')}, the worst first until a column is pressed`;
  }
  filter('');
  return {
    whole: el(
      'div',
      { class: 'head-list' },
      el('h3', null, 'All heads'),
      el('div', { class: 'controls' }, pick.whole, count),
      made.box,
    ),
    filter(verdict) {
      pick.box.value = verdict;
      filter(verdict);
    },
  };
}
