// The phase diagram: when are pairs of tokens one, over time and β.

function phaseFigure(groups) {
  const schemes = unique(groups.map(({ fixed }) => fixed.scheme));
  const sizes = pickSetting(
    'Size',
    groups,
    ['tokens', 'dim'],
    ({ tokens, dim }) => `n = ${tokens}, d = ${dim}`,
    show,
  );
  const pick = select(
    'Scheme',
    schemes.map((each) => [each, schemeWords(each).title]),
    schemes[0],
    show,
  );
  pick.box.id = 'phase-scheme';
  sizes.whole.querySelector('select').id = 'phase-size';
  const holder = el('div', { class: 'map-scroll' });
  const legend = el('div', { class: 'map-legend' });
  const title = 'Phase diagram: pairs that have become one';
  const whole = figure(
    'phase',
    title,
    [{ whole: el('div', null, legend, holder) }],
    [pick.whole, sizes.whole],
  );

  function show() {
    const group = sizes.held().find(({ fixed }) => fixed.scheme === pick.box.value);
    const { tokens, dim } = sizes.setting();
    const name = schemeWords(pick.box.value).title;
    whole.say(group ? '' : `${name} was not simulated with n = ${tokens}, d = ${dim}.`);
    if (!group) {
      holder.replaceChildren();
      legend.replaceChildren();
      whole.caption('');
      return;
    }
    const view = phaseView(group, name);
    const map = createHeatMap(phaseGrid(group), () => {});
    drawHeatMap(map, view);
    holder.replaceChildren(map.picture);
    legend.replaceChildren(view.legend);
    whole.caption(
      `${name}, n = ${tokens}, d = ${dim}: the share of pairs with a cosine of .999 or more`,
      `from uniform starts, over ${plural(group.fixed.seeds, 'seed')}. Point at a cell to read it.`,
    );
  }
  show();
  return whole.whole;
}

// A cell per β (from the largest down) and time.
function phaseGrid({ times, betas }) {
  return {
    kind: 'phase',
    rows: betas.map((each) => sig(each, 3)),
    columns: times.map((each) => sig(each, 3)),
    blocks: [],
    place: betas.flatMap((_, row) => times.map((_each, column) => [row, column])),
    name: (cell) =>
      `t = ${sig(times[cell % times.length])}, β = ${sig(betas[Math.floor(cell / times.length)])}`,
    corner: 'β ↑  t →',
    room: Math.min(760, document.documentElement.clientWidth - 96),
    told: 'over time and β; arrow keys move',
  };
}

function phaseView({ probability, fixed }, name) {
  const values = probability.flat();
  const measure = { unit: 'share of pairs together', low: 0, high: 1 };
  const colours = colouring(values, measure);
  return {
    title: `Pairs together under ${name}`,
    colour: (cell) => (missing(values[cell]) ? '#9aa0a5' : colours.colour(values[cell])),
    text: (cell) =>
      `${percent(values[cell], 1)} of pairs together; ` +
      `${name}, n = ${fixed.tokens}, d = ${fixed.dim}`,
    legend: colourLegend(colours, measure),
  };
}
