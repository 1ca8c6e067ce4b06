// A head's weights, token by token: the matrix on its canvas, and the row under the cursor in words.
//
// heads.matrices: {streams: lists of tokens, heads: by number a list, by window {window, query and
//                  key: their streams, rows: see report/page/matrix.py}}

const HEAVIEST = 8; // keys that are told of a row
const CONTEXT = [9, 4]; // tokens before and after the query

function headMatrix(heads, number) {
  const known = heads.matrices && heads.matrices.heads[number];
  const title = el('h4', null, 'Token by token');
  if (known) {
    const make = (each) => createMatrix(each, heads.matrices.streams, heads.links[number]);
    const holder = el('div');
    const show = (place) => {
      known[place].whole = known[place].whole || make(known[place]);
      holder.replaceChildren(known[place].whole);
    };
    const windows = known.map(({ window: each }, place) => [place, String(each)]);
    const pick = select('Window', windows, 0, show);
    show(0);
    return [title, ...(known.length > 1 ? [pick.whole] : []), holder];
  }
  const [name] = heads.links[number].split('-'); // all calls of a shared module are kept
  const asked = el('code', null, `headgauge scan … --matrix ${name}`);
  return [title, el('p', { class: 'where' }, 'To see its weights as a matrix: ', asked)];
}

// Keys and weights (in thousandths) of all rows, one after the other; row r begins at begins[r].
function matrixRows(rows, count) {
  const bytes = atob(rows);
  let place = 0;
  const next = () => {
    let [value, digit, unit] = [0, 128, 1];
    while (digit > 127) {
      digit = bytes.charCodeAt(place);
      place += 1;
      value += (digit & 127) * unit;
      unit *= 128;
    }
    return value;
  };
  const found = { begins: [0], shares: [], keys: [], weights: [] };
  for (let row = 0; row < count; row += 1) {
    const end = next() + found.keys.length;
    found.shares.push(next() / 1000);
    for (let key = 0; found.keys.length < end; ) {
      key += next();
      found.keys.push(key);
      found.weights.push(next());
    }
    found.begins.push(end);
  }
  return found;
}

function createMatrix({ window: number, query, key, rows }, streams, name) {
  const tokens = [streams[query], streams[key]];
  const [queries, keys] = tokens.map((each) => each.length);
  const matrix = {
    number,
    tokens,
    queries,
    across: keys,
    ...matrixRows(rows, queries),
    words: el('div', { class: 'sample matrix-row', 'aria-live': 'polite' }),
    legend: el('div'),
    picture: el('canvas', {
      class: 'matrix',
      tabindex: '0',
      role: 'img',
      'aria-label':
        `Weights of ${queries} queries, down, on ${keys} keys, across; arrow keys move (with ` +
        'Shift by ten), plus and minus zoom, 0 shows all',
    }),
    cells: el('canvas'),
    ...{ x: 0, y: 0, cell: 0, colours: null },
  };
  const [heavy] = heaviestKeys(matrix, queries - 1);
  goTo(matrix, queries - 1, heavy ? heavy.key : 0);
  listenOnMatrix(matrix);
  new ResizeObserver(() => {
    if (matrix.picture.clientWidth !== matrix.wide) drawMatrix(matrix, true);
  }).observe(matrix.picture);
  const inTheme = () => {
    matrix.colours = null;
    drawMatrix(matrix, true);
  };
  new MutationObserver(inTheme).observe(document.documentElement, {
    attributeFilter: ['data-theme'],
  });
  const zoomer = (sign, title, factor) => {
    const click = () => zoomMatrix(matrix, factor);
    return el('button', { type: 'button', 'aria-label': title, title, on: { click } }, sign);
  };
  const drawn = el('div', null, matrix.legend, matrix.picture);
  const saved = exportTools({
    what: `the matrix of ${name}`,
    name: () => `matrix ${name} window ${number}`,
    picture: () => {
      matrix.saving = true; // in light colours, without the cursor
      inTheme();
      matrix.saving = false;
      requestAnimationFrame(inTheme);
      return [drawn, `${name}, window ${number}: weights of queries, down, on keys, across`];
    },
    rows: () => queriesAndKeys(matrix),
  });
  return el(
    'div',
    null,
    el(
      'p',
      { class: 'where' },
      `Window ${number}, ${queries} queries down, ${keys} keys across; weights below 1/1024 are `,
      'left out. A pinch zooms, or the wheel once you have pressed on the matrix; drag to move.',
    ),
    el(
      'div',
      { class: 'controls' },
      roving(
        el(
          'span',
          { class: 'zoomers', role: 'toolbar', 'aria-label': 'Zoom of the matrix' },
          zoomer('+', 'Zoom in', 2),
          zoomer('−', 'Zoom out', 0.5),
          zoomer('All', 'Show the whole matrix', 0),
        ),
        'button',
      ),
    ),
    drawn,
    matrix.words,
    saved,
  );
}

function queriesAndKeys({ number, tokens: [queries, keys], ...matrix }) {
  return queries.flatMap((query, row) =>
    heaviestKeys(matrix, row).map(({ key, weight }) => ({
      window: number,
      row,
      query,
      key,
      token: keys[key],
      weight,
    })),
  );
}

function heaviestKeys({ begins, keys, weights }, row) {
  return keys
    .slice(begins[row], begins[row + 1])
    .map((key, place) => ({ key, weight: weights[begins[row] + place] / 1000 }))
    .sort((a, b) => b.weight - a.weight || a.key - b.key);
}

function goTo(matrix, row, key) {
  const within = (place, count) => Math.max(0, Math.min(count - 1, place));
  const at = [within(row, matrix.queries), within(key, matrix.across)];
  if (matrix.at && at.every((each, axis) => each === matrix.at[axis])) return;
  matrix.at = at;
  tellRow(matrix);
  drawMatrix(matrix, false);
}

function tellRow({ number, tokens: [queries, keys], at: [row, key], shares, words, ...matrix }) {
  const sorted = heaviestKeys(matrix, row);
  const here = sorted.find((each) => each.key === key);
  const before = queries.slice(Math.max(0, row - CONTEXT[0]), row);
  const after = queries.slice(row + 1, row + 1 + CONTEXT[1]);
  const around = (each) =>
    each.length ? el('span', { class: 'where' }, token(each.join(''))) : null;
  words.replaceChildren(
    el('p', { class: 'row-text' }, around(before), token(queries[row]), around(after)),
    el(
      'p',
      { class: 'where' },
      `Query ${row} of window ${number}; the keys of 1/1024 or more, ${sorted.length}, have `,
      `${percent(shares[row], 1)} of its weight.`,
    ),
    el(
      'p',
      null,
      `Weight on key ${key}, `,
      token(keys[key]),
      here ? `: ${here.weight.toFixed(3)}` : ': below 1/1024, or not visible',
    ),
    el(
      'ol',
      null,
      sorted.slice(0, HEAVIEST).map((each) => sampleKey(each.key, keys[each.key], each.weight)),
    ),
  );
}
