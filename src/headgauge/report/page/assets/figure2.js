// Figures 2a and 2b: the distance and its expectation over L and over N.

// One line per measure over `axis`; `other` is the column that must stand still.
function distanceFigure(id, title, groups, choice, axis, other) {
  const chart = createChart({
    label: title,
    logX: true,
    logY: true,
    canX: true,
    canY: true,
    hidden: ['bound_printed', 'bound_centroid', 'bound_lower', 'bound_upper'],
  });
  const name = axis === 'length' ? 'L' : 'N';
  const otherName = axis === 'length' ? 'N' : 'L';
  let still = null;
  const pick = select(otherName, [], '', (value) => {
    still = Number(value);
    show(choice.state.current);
  });
  const whole = figure(id, title, [chart], [pick.whole]);
  function show(wanted) {
    const { choice: got, held, said } = groupsFor(groups, wanted);
    const rows = held.flatMap(expand);
    const values = unique(rows.map((row) => row[other])).sort((a, b) => a - b);
    if (!values.includes(still)) still = values[values.length - 1];
    setOptions(
      pick.box,
      values.map((each) => [each, String(each)]),
      still,
    );
    pick.whole.hidden = values.length < 2;
    const kept = rows.filter((row) => row[other] === still);
    whole.say(said);
    showChart(chart, {
      x: { label: axis === 'length' ? 'L, tokens in the window' : 'N, tokens selected', name },
      y: { label: 'mean over heads and windows' },
      series: measureSeries(kept, axis),
    });
    whole.caption(
      `The mean over all heads against ${name}, at ${otherName} = ${still}; ${choiceText(got)}.`,
      bandText(kept, 'windows'),
      otherWindows(kept),
      behind(kept),
    );
  }
  choice.follow(show);
  return whole.whole;
}

function measureSeries(rows, axis) {
  const measures = unique(rows.map((row) => row.measure))
    .filter((each) => !each.startsWith('separab') && each !== 'radius')
    .sort((a, b) => KNOWN_LINES.indexOf(a) - KNOWN_LINES.indexOf(b));
  return measures.map((measure) => {
    const mine = rows.filter((row) => row.measure === measure).sort((a, b) => a[axis] - b[axis]);
    const most = windowsOfLine(mine);
    // A mean over other windows is another number: a line through both would zigzag.
    return {
      ...lineOf(measure),
      points: mine.map((row) => ({
        x: row[axis],
        y: row.mean,
        low: row.low,
        high: row.high,
        apart: row.windows !== most,
        facts: [
          ...(row.windows === most ? [] : [['windows', `${row.windows}, on the line ${most}`]]),
          ...rowFacts(row),
        ],
      })),
    };
  });
}

// The most windows that make a line: four points, or half of those there are.
function windowsOfLine(rows) {
  const enough = Math.min(4, rows.length / 2);
  const counts = unique(rows.map((row) => row.windows)).sort((a, b) => b - a);
  return counts.find((count) => rows.filter((row) => row.windows === count).length >= enough);
}

function otherWindows(rows) {
  const distances = rows.filter((row) => row.measure === 'distance');
  const most = windowsOfLine(distances);
  return distances.some((row) => row.windows !== most)
    ? `Line: over ${plural(most, 'window')}; pale points: over another number of them.`
    : '';
}
