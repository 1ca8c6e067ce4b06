// Figure 1: the vectors of a row, the weighted ones, and the ball in which the separable ones lie.

const inside = (p) => p.selected && p.inside;
const outside = (p) => p.selected && !p.inside;
// What matters most stands first, and so lies on top.
const KINDS = [
  { id: 'inside', name: 'selected, separable', test: inside, colour: 0, radius: 3.8 },
  {
    id: 'outside',
    name: 'selected, outside the ball',
    test: outside,
    colour: 1,
    shape: 'diamond',
    radius: 3.8,
    open: true,
  },
  { id: 'rest', name: 'not selected', test: (p) => !p.selected, colour: 6, radius: 2.2 },
];

// The points of a row as series, for any two of its columns.
function pointSeries(points, x, y) {
  return KINDS.map(({ test, ...look }) => ({
    shape: 'circle',
    ...look,
    line: false,
    band: false,
    points: points.filter(test).map((p) => ({
      x: p[x],
      y: p[y],
      title: missing(p.token) ? `key ${p.key}` : `“${visible(p.token)}”`,
      facts: [
        ['key', String(p.key)],
        ['weight', sig(p.weight)],
        ['x, y', `${sig(p[x], 4)}, ${sig(p[y], 4)}`],
        ['', look.name],
      ],
    })),
  })).filter((series) => series.points.length);
}

function panelName(group) {
  const { panel, layer, head, row, top_n: n } = group.fixed;
  return panel === 'circle'
    ? `points on a circle, N = ${n}`
    : `layer ${layer}, head ${head}, query ${row}, N = ${n}`;
}

function figure1(everything, choice) {
  const names = ['Vectors', 'Weighted vectors', 'Zoom on the selected'];
  const together = [];
  const hidden = new Set();
  for (const name of names)
    together.push(
      createChart({
        title: name,
        label: `Figure 1: ${name}`,
        equal: true,
        tallest: 420,
        together,
        hidden,
      }),
    );
  const charts = together;
  let groups = [];
  const pick = select('Row', [], '', (value) => show(Number(value)));
  const whole = figure('fig1', 'Figure 1. The geometry of a row', charts, [pick.whole]);
  // One legend serves all three.
  whole.whole.insertBefore(charts[1].legend, whole.whole.lastChild);
  charts[0].legend.remove();
  charts[2].legend.remove();
  function show(place) {
    const points = expand(groups[place]);
    const { s_x: x, s_y: y, radius: r, panel, top_n: n } = points[0];
    const onCircle = panel === 'circle';
    const axes = (what) => ({
      x: { label: onCircle ? `${what}, x` : `${what}, along s` },
      y: { label: onCircle ? 'y' : 'widest other direction' },
    });
    const weighted = {
      ...axes('α_i x_i'),
      series: [sumSeries(x, y, r), ...pointSeries(points, 'scaled_x', 'scaled_y')],
      circles: [{ x, y, r, name: 'ball' }],
    };
    showChart(charts[0], {
      ...axes('x_i'),
      series: pointSeries(points, 'x', 'y'),
      circles: onCircle ? [{ x: 0, y: 0, r: 1, name: 'unit' }] : [],
    });
    showChart(charts[1], weighted);
    showChart(charts[2], { ...weighted, start: aroundSelected(points) });
    const count = points.filter(inside).length;
    whole.caption(
      'Left: the vectors x_i. Middle: weighted, α_i x_i, with s and the ball B_r(s). Right: its edge,',
      'where the selected tokens lie.',
      `${points.length} keys, ${n} selected, ${count} of them in the ball of r = ${sig(r, 4)}:`,
      `N_s/N = ${sig(count / n, 3)}.`,
      !onCircle && `Text: ${groups[place].fixed.text}.`,
      !onCircle && 'Distances from s are true in the second and third, angles are projected.',
    );
  }
  choice.follow(({ text }) => {
    groups = everything.filter(({ fixed }) => fixed.text === text);
    if (!groups.length) groups = everything;
    const place = Math.min(Number(pick.box.value), groups.length - 1);
    setOptions(
      pick.box,
      groups.map((group, each) => [each, panelName(group)]),
      place,
    );
    show(place);
  });
  return whole.whole;
}

// The ball is large beside the weighted vectors: what is inside shows only from near by.
function aroundSelected(points) {
  const chosen = points.filter((p) => p.selected);
  const ends = (name) => padded(range(chosen.map((p) => p[name])), false, 0.3);
  return { x: ends('scaled_x'), y: ends('scaled_y') };
}

function sumSeries(x, y, r) {
  const facts = [
    ['x, y', `${sig(x, 4)}, ${sig(y, 4)}`],
    ['radius r', sig(r)],
  ];
  return {
    id: 's',
    name: 's, the sum of the selected',
    colour: 3,
    shape: 'cross',
    radius: 5,
    line: false,
    points: [{ x, y, title: 's', facts }],
  };
}
