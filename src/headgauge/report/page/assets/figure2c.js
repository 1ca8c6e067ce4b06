// Figure 2c: where a test stops telling the distance and its expectation apart.

function criticalFigure(groups, tests, growth, choice) {
  const title = 'Figure 2c. The critical N';
  const critical = createChart({
    title: 'Critical N over L',
    label: `${title} over L`,
    logX: true,
    logY: true,
    canX: true,
    canY: true,
  });
  const values = createChart({
    title: 'p-values over N',
    label: 'p-values over N',
    logX: true,
    logY: true,
    canX: true,
    canY: true,
    floorY: 1e-12,
  });
  const levels = unique(groups.map(({ fixed }) => fixed.level)).sort();
  let level = levels[0];
  let length = null;
  const pickLevel = select(
    'Level of the test',
    levels.map((each) => [each, String(each)]),
    level,
    (value) => {
      level = Number(value);
      show(choice.state.current);
    },
  );
  const pickLength = select('p-values at L', [], '', (value) => {
    length = Number(value);
    show(choice.state.current);
  });
  const whole = figure('fig2c', title, tests.length ? [critical, values] : [critical], [
    pickLevel.whole,
    pickLength.whole,
  ]);
  pickLength.whole.hidden = !tests.length;

  function show(wanted) {
    const { choice: got, held, said } = groupsFor(groups, wanted);
    const rows = held.filter(({ fixed }) => fixed.level === level).flatMap(expand);
    whole.say(said);
    showChart(critical, {
      x: { label: 'L, tokens in the window', name: 'L' },
      y: { label: 'critical N' },
      series: criticalSeries(rows),
    });
    if (tests.length) showTests(got);
    const none = rows.filter((row) => missing(row.critical_n)).length;
    whole.caption(
      `The first N at which a Kolmogorov–Smirnov test at level ${level} no longer tells distance`,
      `and expectation apart, over heads; ${choiceText(got)}.`,
      bandText(rows, 'heads'),
      growthText(growth, got, level),
      none && 'An open triangle: no such N up to the largest tried, where it stands.',
      tests.length && 'Second: every p-value at one L; smaller ones stand at 10⁻¹².',
      behind(rows),
    );
  }
  function showTests(wanted) {
    const { held } = groupsFor(tests, wanted);
    const rows = held.flatMap(expand);
    const lengths = unique(rows.map((row) => row.length)).sort((a, b) => a - b);
    if (!lengths.includes(length)) length = lengths[lengths.length - 1];
    setOptions(
      pickLength.box,
      lengths.map((each) => [each, String(each)]),
      length,
    );
    showChart(values, {
      x: { label: `N, at L = ${length}`, name: 'N' },
      y: { label: 'p-value' },
      series: testSeries(rows.filter((row) => row.length === length)),
      reach: 1,
      levels: levels.map((each) => ({ y: each, label: String(each) })),
    });
  }
  choice.follow(show);
  return whole.whole;
}

// How the critical N grows with L, where enough draws of heads have one at every L.
function growthText(growth, choice, level) {
  const told = growth
    .filter((row) => row.level === level && sameChoice(row, choice) && !missing(row.exponent))
    .map(
      (row) =>
        `${lineOf(SIDES[row.expected]).name}: L^${row.exponent.toFixed(2)}` +
        (missing(row.low) ? '' : ` (${row.low.toFixed(2)} to ${row.high.toFixed(2)})`) +
        `, found in ${percent(row.found)} of draws of ${row.heads} heads`,
    );
  return told.length ? `Growth with L, ${told.join('; ')}.` : '';
}

function bySide(rows, pointOf) {
  return Object.keys(SIDES)
    .filter((side) => rows.some((row) => row.expected === side))
    .map((side) => ({
      ...lineOf(SIDES[side]),
      id: side,
      points: rows.filter((row) => row.expected === side).map(pointOf),
    }));
}

const PAPER_SHARE = 0.06;

function criticalSeries(rows) {
  const lengths = unique(rows.map((row) => row.length)).sort((a, b) => a - b);
  const paper = {
    id: 'paper',
    name: 'the paper: 0.06 L',
    colour: 6,
    dash: true,
    marker: false,
    points: lengths.map((length) => ({ x: length, y: PAPER_SHARE * length })),
  };
  const sides = Object.keys(SIDES);
  return [
    ...bySide(rows, (row) => {
      const none = missing(row.critical_n);
      return {
        x: row.length,
        y: none ? row.tried : row.critical_n,
        low: row.low,
        high: row.high,
        // Where several found none they stand in one place, one inside the other.
        open: none,
        apart: none,
        radius: none ? 3 + 2.2 * sides.indexOf(row.expected) : undefined,
        shape: none ? 'triangle' : undefined,
        text: none ? `none up to ${row.tried}` : undefined,
        facts: [
          ['share of L', percent(row.share, 1)],
          ['with 144 heads', sig(row.few_heads)],
          ['found in', `${percent(row.found)} of draws`],
          ...rowFacts(row),
        ],
      };
    }),
    paper,
  ];
}

function testSeries(rows) {
  return bySide(rows, (row) => ({
    x: row.top_n,
    y: row.p_value,
    facts: [
      ['distance', sig(row.distance)],
      ['expectation', sig(row.expectation)],
      ['KS statistic', sig(row.statistic)],
    ],
  })).map((series) => ({ ...series, band: false }));
}
