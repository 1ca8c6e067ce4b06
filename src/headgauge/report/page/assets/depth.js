// The residual stream by layer, and what the schemes predict of it.

const LAYER_AXIS = { label: 'layer; the last place is after the last layer', name: 'layer' };
const MEASURED = { id: 'measured', name: 'measured', look: { colour: 'var(--ink)', wide: 2.2 } };

function depthSection(depth) {
  const layers = rowsOf(depth.layers);
  const own = depth.predicted.find((group) => expand(group)[0].recognised);
  const others = depth.predicted.filter((group) => group !== own);
  const hidden = new Set(others.map(({ fixed }) => fixed.scheme));
  const predicted = [];
  const predictedChart = (title) => {
    const chart = createChart({
      title,
      label: `${title} by layer`,
      canY: title === 'Radius',
      hidden,
      together: predicted,
    });
    predicted.push(chart);
    return chart;
  };
  const cosine = predictedChart('Cosine of pairs');
  const radius = predictedChart('Radius');
  const norms = createChart({ title: 'What a layer adds', label: 'Norms by layer', canY: true });
  const speed = createChart({ title: 'Turning', label: 'Angle turned by layer' });
  const schemes = (name) =>
    [own, ...others].filter(Boolean).map((group) => ({
      ...schemeLine(group.fixed.scheme, group === own ? 3.2 : 1.2),
      name: `${schemeWords(group.fixed.scheme).title}, predicted`,
      points: expand(group).map((row) => ({ x: row.layer, y: row[name] })),
    }));

  const whole = figure('depth-lines', 'Layer by layer', [cosine, radius, norms, speed]);
  const show = (chart, label, series) =>
    showChart(chart, { x: LAYER_AXIS, y: { label }, series });
  show(cosine, 'mean cosine of pairs', [
    { ...MEASURED, points: layers.map(cosinePoint) },
    ...schemes('gamma'),
  ]);
  show(radius, 'mean length of the tokens', [
    {
      ...MEASURED,
      points: layerPoints(layers, 'radius', 'radius_low', 'radius_high'),
    },
    ...schemes('radius'),
  ]);
  show(norms, 'mean length of what a layer adds', [
    {
      id: 'attention',
      name: 'attention',
      colour: 0,
      points: layerPoints(layers, 'attention_norm'),
    },
    { id: 'rest', name: 'the rest (MLP)', colour: 1, points: layerPoints(layers, 'other_norm') },
  ]);
  show(speed, 'radians a token turns in a layer', [
    { ...MEASURED, points: layerPoints(layers, 'speed', 'speed_low', 'speed_high') },
    {
      id: 'attention',
      name: 'attention alone',
      colour: 0,
      points: layerPoints(layers, 'attention_speed'),
    },
  ]);
  whole.caption(
    `Means over ${plural(depth.windows, 'window')} of L = ${depth.length}.`,
    'Shaded: 5 to 95 % of pairs (cosine) or tokens.',
    others.length ? 'Other schemes are hidden; press one in a legend to see it.' : '',
  );
  const said = el('p', { id: 'recognised' }, recognised(layers, own));
  return section('depth', 'Depth', said, whole.whole);
}

function layerPoints(layers, name, low, high) {
  return layers.map((row) => ({
    x: row.layer,
    y: row[name],
    low: low && row[low],
    high: high && row[high],
    facts: row.module ? [['enters', row.module]] : [],
  }));
}

function cosinePoint(row) {
  return {
    x: row.layer,
    y: row.mean_cosine,
    low: row.pair_low,
    high: row.pair_high,
    facts: [
      ['farthest pair', sig(row.least_cosine, 3)],
      ['pairs together', percent(row.together, 1)],
      ['clusters', sig(row.clusters, 3)],
      ['keys a head attends to', sig(row.effective_n, 3)],
      ...(row.module ? [['enters', row.module]] : []),
    ],
  };
}

// Which scheme this model has, and what its prediction is made from.
function recognised(layers, own) {
  const known = layers.map((row) => row.scheme).filter((each) => !missing(each));
  if (!own) {
    const found = unique(known).map((each) => schemeWords(each).title);
    return `No one scheme was recognised (layers: ${found.join(', ') || 'none'}), so none is bold.`;
  }
  const { scheme, beta, tokens } = expand(own)[0];
  const same = known.filter((each) => each === scheme).length;
  return [
    `Recognised as ${schemeWords(scheme).title}`,
    known.length ? ` (${same} of ${plural(known.length, 'layer')})` : '',
    '. Its line, in bold, is the equiangular system (identity matrices, no mask, no MLPs) ',
    `of n = ${sig(tokens)} tokens started where the model starts, `,
    `with β = ${sig(beta, 4)}: the β whose softmax, masked as the model's, spreads over as many `,
    "keys as the first layer's heads do.",
  ].join('');
}
