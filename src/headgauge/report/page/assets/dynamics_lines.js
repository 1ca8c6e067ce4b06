// The lines over time: γ of the reduced system, and the mean cosine of simulated particles.

const TIME_AXIS = { label: 't, time in layers with a residual step of 1', name: 't' };

// The settings in which groups were made, to choose from; nothing to see where there is one.
function pickSetting(label, groups, fields, textOf, changed) {
  const keyOf = ({ fixed }) => JSON.stringify(fields.map((field) => fixed[field]));
  const settings = new Map(groups.map((group) => [keyOf(group), group.fixed]));
  const pick = {
    key: keyOf(groups[0]),
    setting: () => settings.get(pick.key),
    held: () => groups.filter((group) => keyOf(group) === pick.key),
  };
  const { whole } = select(
    label,
    [...settings].map(([key, fixed]) => [key, textOf(fixed)]),
    pick.key,
    (value) => {
      pick.key = value;
      changed();
    },
  );
  whole.hidden = settings.size < 2;
  pick.whole = whole;
  return pick;
}

function curveSetting({ tokens, beta }) {
  return `n = ${tokens}, β = ${sig(beta)}`;
}

const WEIGHTS = {
  identity: 'Q = K = V = I',
  random: 'random Q, K, V',
  layers: 'new Q, K, V in every unit of time',
};

function swarmSetting({ weights, rule, tokens, dim, heads, causal, beta }) {
  return [
    `${WEIGHTS[weights] || weights}; n = ${tokens}, d = ${dim}, β = ${sig(beta)}`,
    rule === 'softmax' ? '' : `, ${rule}`,
    heads === 1 ? '' : `, ${heads} heads`,
    causal ? ', causal' : '',
  ].join('');
}

function rowsByScheme(groups) {
  return new Map(groups.map((group) => [group.fixed.scheme, expand(group)]));
}

function schemeSeries(lines, pointOf) {
  return [...lines].map(([scheme, rows]) => ({ ...schemeLine(scheme), points: rows.map(pointOf) }));
}

function gammaFigure(groups, clock) {
  const title = 'Tokens at equal angles: their cosine γ(t)';
  const chart = createChart({ label: title, canX: true });
  let gap = false;
  const pick = pickSetting('Setting', groups, ['tokens', 'beta'], curveSetting, () => {
    show();
    clock.again();
  });
  const pickScale = select(
    'Show',
    [
      ['cosine', 'cosine γ'],
      ['gap', 'gap 1 − γ, log axis'],
    ],
    'cosine',
    (value) => {
      gap = value === 'gap';
      show();
    },
  );
  pickScale.box.id = 'gamma-scale';
  const whole = figure('gamma', title, [chart], [pickScale.whole, pick.whole]);
  const made = { whole: whole.whole, pick, lines: null };
  function show() {
    made.lines = rowsByScheme(pick.held());
    chart.log.y = gap;
    const floor = lowestGap(made.lines);
    showChart(chart, {
      x: TIME_AXIS,
      y: { label: gap ? '1 − γ' : 'γ' },
      series: schemeSeries(made.lines, (row) => gammaPoint(row, gap, floor)),
    });
    whole.caption(
      `The equiangular reduction with Q = K = V = I, ${curveSetting(pick.setting())}.`,
      'The upright line is the time of the slider.',
      made.lines.has('unnormalised')
        ? 'Grey: attention without the denominator of softmax.'
        : '',
      gap && made.lines.has('unnormalised')
        ? 'It is drawn as far down as the others go.'
        : '',
    );
  }
  show();
  clock.follow((time) => setNow(chart, time));
  return made;
}

// The baseline falls by hundreds of decades, which would leave the others none.
function lowestGap(lines) {
  const regulated = [...lines].filter(([scheme]) => scheme !== 'unnormalised');
  const kept = (regulated.length ? regulated : [...lines]).flatMap(([, rows]) => rows);
  return (range(kept.map((row) => row.log_gap)) || [-Infinity])[0];
}

// 1 − γ from its logarithm, also where the number itself is too small for a computer.
function gapText(logGap, digits) {
  if (missing(logGap)) return DASH;
  return logGap < -700 ? tenTo(Math.round(logGap / Math.LN10)) : sig(Math.exp(logGap), digits);
}

function gammaPoint(row, gap, floor) {
  const drawn = !missing(row.log_gap) && row.log_gap >= floor;
  return {
    x: row.time,
    y: gap ? (drawn ? Math.exp(row.log_gap) : null) : row.gamma,
    facts: [
      gap ? ['γ', sig(row.gamma)] : ['1 − γ', gapText(row.log_gap, 4)],
      ['γ′', sig(row.velocity, 4)],
      ['radius', sig(row.radius, 4)],
      ['‖A‖', sig(row.attention_norm, 4)],
    ],
  };
}

function swarmFigure(groups, clock) {
  const title = 'Simulated particles: mean cosine of pairs';
  const chart = createChart({ label: title, canX: true });
  const fields = ['weights', 'rule', 'tokens', 'dim', 'heads', 'causal', 'beta'];
  const pick = pickSetting('Weights', groups, fields, swarmSetting, () => {
    show();
    clock.again();
  });
  const whole = figure('swarm', title, [chart], [pick.whole]);
  const made = { whole: whole.whole, pick, lines: null };
  function show() {
    made.lines = rowsByScheme(pick.held());
    const rows = [...made.lines.values()].flat();
    showChart(chart, {
      x: TIME_AXIS,
      y: { label: 'mean cosine' },
      series: schemeSeries(made.lines, swarmPoint),
    });
    whole.caption(
      `${swarmSetting(pick.setting())}:`,
      `the mean over pairs and ${span(rows.map((row) => row.seeds))} seeds.`,
      'Shaded: 5 to 95 % of the seeds.',
    );
  }
  show();
  clock.follow((time) => setNow(chart, time));
  return made;
}

function swarmPoint(row) {
  return {
    x: row.time,
    y: row.mean_cosine,
    low: row.low,
    high: row.high,
    facts: [
      ['5 to 95 % of pairs', `${sig(row.pair_low, 3)} to ${sig(row.pair_high, 3)}`],
      ['farthest pair', sig(row.least_cosine, 3)],
      ['pairs together', percent(row.together, 1)],
      ['clusters', sig(row.clusters, 3)],
      ['turning, per layer', sig(row.speed, 3)],
    ],
  };
}
