// Lemma 1 and Corollary 1: how the weights shrink with L, and what the bounds promise.

const WEIGHT_LINES = {
  largest_weight: { name: 'largest weight', colour: 0 },
  top_mass: { name: 'mass of the 16 heaviest keys', colour: 2 },
  largest_off_sink: { name: 'largest off the first key, of the rest', colour: 3 },
};
const BOUND_LINES = {
  largest_weight: WEIGHT_LINES.largest_weight,
  bound_range: { name: 'from the range of the logits, sharp', colour: 5, dash: true },
  bound_mean: { name: 'from the mean logit (Jensen)', colour: 4, dash: true },
  bound_printed: { name: 'Corollary 1 as printed, by norms', colour: 1, dash: true },
};

function vanishingFigure(everything, choice) {
  const title = 'Lemma 1. Weights over L';
  const printed = everything.filter(({ fixed }) => fixed.measure === 'bound_printed');
  // Tens of decades above 1 it would hide all the rest.
  const far = printed.flatMap(expand).some((row) => row.mean > 1e4);
  const chart = (name, hidden) =>
    createChart({ title: name, label: name, logX: true, logY: true, canX: true, canY: true, hidden });
  const weights = chart('Weights over L', []);
  const bounds = chart('The largest weight and its bounds', far ? ['bound_printed'] : []);
  const whole = figure('vanishing', title, [weights, bounds]);
  choice.follow((wanted) => {
    const mine = everything.filter(({ fixed }) => fixed.text === wanted.text);
    const there = mine.some(({ fixed }) => fixed.rule === wanted.rule);
    const rule = there ? wanted.rule : 'model';
    const rows = mine.filter(({ fixed }) => fixed.rule === rule).flatMap(expand);
    const own = mine.filter(({ fixed }) => fixed.rule === 'model').flatMap(expand);
    whole.say(there ? '' : `Not measured under ${wanted.rule}; shown: the model’s own weights.`);
    showChart(weights, {
      x: { label: 'L, tokens in the window', name: 'L' },
      y: { label: 'weight, mean over heads' },
      series: [...weightSeries(rows, WEIGHT_LINES), guide(own)],
    });
    showChart(bounds, {
      x: { label: 'L, tokens in the window', name: 'L' },
      y: { label: 'weight, or a bound on it' },
      series: weightSeries(own, BOUND_LINES),
      levels: [{ y: 1, label: '1' }],
    });
    whole.caption(
      `${wanted.text}${rule === 'model' ? '' : `, rule ${rule}`}. Query rows of the window’s last`,
      'quarter, which see nearly all of it; mean over heads, of a bound the geometric mean. Second:',
      'under the model’s own rule; a bound above 1 says nothing.',
      far && printedText(own),
      bandText(rows, 'windows'),
      `${headsBehind(rows)}, ${span(rows.map((row) => row.rows))} query rows per head.`,
    );
  });
  return whole.whole;
}

function printedText(rows) {
  const values = rows.filter((row) => row.measure === 'bound_printed').map((row) => row.mean);
  const ends = range(values);
  if (!ends) return '';
  const powers = unique(ends.map((each) => tenTo(Math.round(Math.log10(each)))));
  return `Corollary 1 as printed gives ${powers.join(' to ')}: press it in the legend to see it.`;
}

function weightSeries(rows, looks) {
  return Object.entries(looks)
    .map(([measure, look]) => ({
      id: measure,
      ...look,
      points: rows
        .filter((row) => row.measure === measure)
        .map((row) => ({
          x: row.length,
          y: row.mean,
          low: row.low,
          high: row.high,
          facts: rowFacts(row),
        })),
    }))
    .filter((series) => series.points.length);
}

function guide(rows) {
  const lengths = unique(rows.map((row) => row.length)).sort((a, b) => a - b);
  return {
    id: 'guide',
    name: '1/L, if all keys were alike',
    colour: 6,
    dash: true,
    marker: false,
    points: lengths.map((length) => ({ x: length, y: 1 / length })),
  };
}
