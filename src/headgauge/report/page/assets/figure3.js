// Figure 3: the separable share over N, a box over heads at each, and the bounds.

const BAND = { from: 0.7, to: 0.85 };
const BAND_TEXT = "N_s/N; shaded: the paper's .70 to .85";

function separabilityFigure(groups, choice) {
  const title = 'Figure 3. Separability over N';
  const chart = createChart({ label: title, logX: true, canX: true, tallest: 440 });
  let length = null;
  const pick = select('L', [], '', (value) => {
    length = Number(value);
    show(choice.state.current);
  });
  const whole = figure('fig3', title, [chart], [pick.whole]);
  function show(wanted) {
    const { choice: got, held, said } = groupsFor(groups, wanted);
    const rows = held.flatMap(expand).filter((row) => row.measure.startsWith('separability'));
    const lengths = unique(rows.map((row) => row.length)).sort((a, b) => a - b);
    if (!lengths.includes(length)) length = lengths[lengths.length - 1];
    setOptions(
      pick.box,
      lengths.map((each) => [each, String(each)]),
      length,
    );
    pick.whole.hidden = lengths.length < 2;
    const kept = rows.filter((row) => row.length === length);
    whole.say(said);
    showChart(chart, {
      x: { label: 'N, tokens selected', name: 'N' },
      y: { label: BAND_TEXT },
      series: separabilitySeries(kept),
      shades: [BAND],
    });
    whole.caption(
      `Boxes: how the heads spread (least, quartiles, largest) at L = ${length}; line: their mean;`,
      `${choiceText(got)}.`,
      'The N are ours: the paper prints none for this figure.',
      bandText(kept, 'windows'),
      behind(kept),
    );
  }
  choice.follow(show);
  return whole.whole;
}

function separabilitySeries(rows) {
  const measures = unique(rows.map((row) => row.measure)).sort(
    (a, b) => KNOWN_LINES.indexOf(a) - KNOWN_LINES.indexOf(b),
  );
  return measures.map((measure) => {
    const mine = rows.filter((row) => row.measure === measure).sort((a, b) => a.top_n - b.top_n);
    const boxes = mine
      .filter((row) => !missing(row.median))
      .map((row) => ({ x: row.top_n, ...row }));
    return {
      ...lineOf(measure),
      radius: 2.4,
      marker: measure === 'separability',
      boxes: measure === 'separability' && boxes.length ? boxes : undefined,
      points: mine.map((row) => ({
        x: row.top_n,
        y: row.mean,
        low: row.low,
        high: row.high,
        facts: boxFacts(row),
      })),
    };
  });
}

function boxFacts(row) {
  if (missing(row.median)) return rowFacts(row);
  return [
    ['median head', sig(row.median, 4)],
    ['quartiles', `${sig(row.q25, 4)} to ${sig(row.q75, 4)}`],
    ['least, largest', `${sig(row.minimum, 4)}, ${sig(row.maximum, 4)}`],
    ...rowFacts(row),
  ];
}
