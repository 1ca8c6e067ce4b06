// Figure 4: the finite-difference sensitivity g(T, ε) over the temperature, and the bounds on it.

const ONE_DIRECTION =
  'Each query row has one random direction, used over the whole grid of T and ε; Algorithm 5 draws ' +
  'a new one every time. The grid of T is ours: the paper prints none.';
const isBound = ({ fixed }) => fixed.direction.endsWith('bound');

function sensitivityFigure(everything, choice) {
  const title = 'Figure 4. Sensitivity over temperature';
  const chart = createChart({
    label: title,
    logX: true,
    logY: true,
    canX: true,
    canY: true,
    tallest: 440,
  });
  let groups = everything;
  const stepped = everything.filter((group) => !missing(group.fixed.epsilon) && !isBound(group));
  const there = (logits, direction) =>
    stepped.some(({ fixed }) => fixed.logits === logits && fixed.direction === direction);
  const logits = unique(stepped.map(({ fixed }) => fixed.logits)).sort(
    (a, b) => (b === 'scaled') - (a === 'scaled'),
  );
  const directions = unique(stepped.map(({ fixed }) => fixed.direction));
  let now = { logits: logits[0], direction: directions.find((each) => there(logits[0], each)) };
  const pickLogits = select(
    'Logits',
    logits.map((each) => [each, each === 'scaled' ? 'scaled by 1/√d' : each]),
    now.logits,
    (value) =>
      choose({
        logits: value,
        direction: there(value, now.direction)
          ? now.direction
          : directions.find((each) => there(value, each)),
      }),
  );
  const pickDirection = select(
    'Direction',
    directions.map((each) => [each, each]),
    now.direction,
    (value) =>
      choose({
        direction: value,
        logits: there(now.logits, value) ? now.logits : logits.find((each) => there(each, value)),
      }),
  );
  const whole = figure('fig4', title, [chart], [pickDirection.whole, pickLogits.whole]);

  // What was not measured together gives way to what was, and says so.
  function choose(wanted) {
    const said = [];
    if (wanted.logits !== now.logits && pickLogits.box.value !== wanted.logits)
      said.push(`Direction “${wanted.direction}” was measured for ${wanted.logits} logits only.`);
    if (wanted.direction !== now.direction && pickDirection.box.value !== wanted.direction)
      said.push(`For ${wanted.logits} logits only direction “${wanted.direction}” was measured.`);
    now = wanted;
    pickLogits.box.value = now.logits;
    pickDirection.box.value = now.direction;
    whole.say(said.join(' '));
    show();
  }
  function show() {
    const other = now.direction.includes(' under '); // of another rule than softmax
    // The exact mean is the limit of the random direction alone, the exact norm that of the worst.
    const isLimit = ({ fixed }) =>
      !other &&
      missing(fixed.epsilon) &&
      (fixed.direction !== 'exact mean' || now.direction === 'random');
    const held = groups.filter(
      (group) =>
        (!other && isBound(group)) || // holds for any logits
        (group.fixed.logits === now.logits &&
          (group.fixed.direction === now.direction || isLimit(group))),
    );
    const drawn = held.filter(({ fixed }) => fixed.direction === now.direction).flatMap(expand);
    showChart(chart, {
      x: { label: 'temperature T', name: 'T' },
      y: { label: 'g(T, ε), largest over heads' },
      series: sensitivitySeries(held),
    });
    whole.caption(
      'The largest over heads of the mean over rows, by step ε;',
      `${groups[0].fixed.text}, direction ${now.direction}, ${now.logits} logits.`,
      ONE_DIRECTION,
      other ? '' : 'Exact: the limit ε → 0. Dashed: bounds.',
      bandText(drawn, 'rows'),
      `${span(drawn.map((row) => row.heads))} heads,`,
      `${span(drawn.map((row) => row.rows))} query rows drawn per head.`,
    );
  }
  choice.follow(({ text }) => {
    groups = everything.filter(({ fixed }) => fixed.text === text);
    if (!groups.length) groups = everything.filter(({ fixed }) => fixed.text === everything[0].fixed.text);
    show();
  });
  return whole.whole;
}

// A step ε and the bound that belongs to it share a colour.
const STEP_COLOURS = [0, 2, 3, 5];
const LIMIT_COLOURS = { exact: 6, 'exact mean': 4, 'printed bound': 1, 'corrected bound': 7 };

function sensitivitySeries(groups) {
  const steps = unique(groups.map(({ fixed }) => fixed.epsilon))
    .filter((each) => !missing(each))
    .sort((a, b) => a - b);
  const rank = (group) => 2 * isBound(group) + missing(group.fixed.epsilon);
  const order = [...groups].sort(
    (a, b) => rank(a) - rank(b) || (a.fixed.epsilon || 0) - (b.fixed.epsilon || 0),
  );
  return order.map((group) => {
    const { direction, epsilon } = group.fixed;
    const bound = isBound(group);
    const limit = missing(epsilon);
    const name = limit
      ? direction
      : bound
        ? `${direction}, ε = ${sig(epsilon)}`
        : `ε = ${sig(epsilon)}`;
    return {
      id: `${direction} ${limit ? 'limit' : epsilon}`,
      name,
      dash: bound,
      marker: !bound,
      colour: limit
        ? LIMIT_COLOURS[direction] === undefined
          ? 6
          : LIMIT_COLOURS[direction]
        : STEP_COLOURS[steps.indexOf(epsilon) % STEP_COLOURS.length],
      points: expand(group).map((row) => ({
        x: row.temperature,
        y: row.maximum,
        low: row.low,
        high: row.high,
        facts: missing(row.layer)
          ? []
          : [
              ['largest at', `layer ${row.layer}, head ${row.head}`],
              ['mean over heads', sig(row.mean)],
              ['rows per head', sig(row.rows)],
            ],
      })),
    };
  });
}
