// What is read at the slider's time, and what the theory says beside what was measured.

// gamma and swarm: the figures whose settings are meant, or null where there is no such table.
function createReadout(gamma, swarm, clock) {
  const column = (title, hint, cell) => ({ title, hint, number: true, cell });
  const made = table(
    [
      { title: 'Scheme', cell: (row) => schemeTag(row.scheme) },
      column('γ', 'Cosine of tokens at equal angles', (row) => gammaText(row.log_gap)),
      column('1 − γ', 'The gap that is left', (row) => gapText(row.log_gap, 3)),
      column('radius', 'Length of a token', (row) => fixedTo(row.radius, 2)),
      column('‖A‖', 'Length of what attention adds', (row) => fixedTo(row.attention_norm, 3)),
      column('clusters', 'Of simulated particles', (row) => fixedTo(row.clusters, 1)),
      column('together', 'Pairs with a cosine of .999 or more', (row) => percent(row.together, 1)),
    ],
    [],
    { class: 'dense one-line', label: 'What is read at the time of the slider' },
  );
  const caption = el('p', { class: 'where' });
  clock.follow((time) => {
    const [reduced, swarms] = [gamma, swarm].map((each) => (each ? each.lines : new Map()));
    const schemes = unique([...reduced.keys(), ...swarms.keys()]);
    made.update(
      schemes.map((scheme) => {
        const at = (lines, name) => valueAt(lines.get(scheme) || [], name, time);
        return {
          scheme,
          log_gap: at(reduced, 'log_gap'),
          radius: at(reduced, 'radius'),
          attention_norm: at(reduced, 'attention_norm'),
          clusters: at(swarms, 'clusters'),
          together: at(swarms, 'together'),
        };
      }),
    );
    caption.textContent = [
      gamma && `γ, r and ‖A‖: tokens at equal angles, ${curveSetting(gamma.pick.setting())}.`,
      swarm && `Clusters and pairs: particles, ${swarmSetting(swarm.pick.setting())}.`,
    ]
      .filter(Boolean)
      .join(' ');
  });
  return el('div', { id: 'readout' }, made.box, caption);
}

// Of one and the same gap: γ and 1 − γ add up, between stored times too.
function gammaText(logGap) {
  return fixedTo(missing(logGap) ? null : -Math.expm1(logGap), 4);
}

function fixedTo(value, digits) {
  return missing(value) ? DASH : value.toFixed(digits).replace('-', '−');
}

function ratesTable(columns) {
  const number = (title, name, hint) => ({
    title,
    hint,
    number: true,
    cell: (row) => sig(row[name], 4),
  });
  return table(
    [
      { title: 'Scheme', cell: (row) => schemeTag(row.scheme) },
      { title: 'Quantity', cell: (row) => row.quantity },
      { title: 'Law', cell: (row) => row.law },
      { title: 'Slope against', cell: (row) => row.against },
      number('Theory', 'theory'),
      number('Reduced system', 'reduced', 'Measured on tokens at equal angles'),
      number('Particles', 'particles', 'Measured on simulated particles'),
    ],
    rowsOf(columns),
    { class: 'dense one-line', label: 'Rates, theory beside measured' },
  ).box;
}

function collapseTable(columns) {
  return table(
    [
      { title: 'Scheme', cell: (row) => schemeTag(row.scheme) },
      { title: 'Weights', cell: (row) => WEIGHTS[row.weights] || row.weights },
      { title: 'Seeds', number: true, cell: (row) => String(row.seeds) },
      { title: 'Collapsed', number: true, cell: (row) => percent(row.collapsed) },
      {
        title: 'At t',
        number: true,
        cell: (row) => sig(row.time, 4),
        hint: 'Median over seeds, where half of them got there',
      },
      { title: 'Earliest', number: true, cell: (row) => sig(row.low, 4) },
      { title: 'Latest', number: true, cell: (row) => sig(row.high, 4) },
    ],
    rowsOf(columns),
    { class: 'dense one-line', label: 'When all tokens are one' },
  ).box;
}

function theoryPart({ rates, collapse }) {
  if (!rates && !collapse) return null;
  return el(
    'div',
    { id: 'theory' },
    el('h3', null, 'Theory beside measured'),
    rates ? ratesTable(rates) : null,
    collapse
      ? [
          el('h4', null, 'When the farthest pair reaches a cosine of .999'),
          collapseTable(collapse),
        ]
      : null,
  );
}
