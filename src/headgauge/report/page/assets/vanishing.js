// Lemma 1 and Corollary 1: how the weights shrink with L, and what the bounds promise.

const WEIGHT_LINES = {
  largest_weight: { name: 'largest weight', colour: 0 },
  top_mass: { name: 'mass of the 16 heaviest keys', colour: 2 },
  largest_off_sink: { name: 'largest off the first key, of the rest', colour: 3 },
};
const BOUND_LINES = {
  largest_weight: WEIGHT_LINES.largest_weight,
  bound_range: { name: 'from the range of the logits, sharp', colour: 5, dash: true },
  bound_mean: { name: 'e^(max − mean)/n', colour: 4, dash: true },
  bound_printed: { name: 'Corollary 1, norms: e^(2ab)/n', colour: 1, dash: true },
};

function vanishingFigure(everything, choice) {
  const title = 'Lemma 1. Weights over L';
  const chart = (name) =>
    createChart({ title: name, label: name, logX: true, logY: true, canX: true, canY: true });
  const weights = chart('Weights over L');
  const bounds = chart('The largest weight and its bounds');
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
      'quarter, which see nearly all of it; mean over heads, of a bound the geometric mean. Only the',
      'slope of 1/L is to be compared. Second: under the model’s own rule; a bound above 1 says',
      'nothing.',
      bandText(rows, 'windows'),
      `${span(rows.map((row) => row.heads))} heads,`,
      `${span(rows.map((row) => row.windows))} windows,`,
      `${span(rows.map((row) => row.rows))} query rows per head.`,
    );
  });
  return whole.whole;
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
    name: '1/L',
    colour: 6,
    dash: true,
    marker: false,
    points: lengths.map((length) => ({ x: length, y: 1 / length })),
  };
}
