// Layer × head, a cell for each head: a measure's colour, or a stripe and letter per verdict.

// view: {title, colour(head), text(head), stripes(head) → verdicts or null, legend}
function createHeatMap(heads, chosen) {
  const picture = svg('svg', { class: 'heat', role: 'grid' });
  const map = { heads, picture, cells: [], current: 0, chosen, view: null, cellOf: new Map() };
  heads.place.forEach(([row, column], number) => map.cellOf.set(`${row} ${column}`, number));
  picture.addEventListener('keydown', (event) => moveOnMap(map, event));
  picture.addEventListener('pointerleave', hideTip);
  return map;
}

function headName(heads, number) {
  const call = heads.occurrence[number] ? ` call ${heads.occurrence[number] + 1}` : '';
  return `Layer ${heads.layer[number]}${call}, head ${heads.head[number]}`;
}

function drawHeatMap(map, view) {
  map.view = view;
  const { heads, picture } = map;
  const wide = Math.max(10, Math.min(34, Math.floor(300 / heads.columns.length)));
  const high = Math.max(12, Math.min(22, Math.floor(620 / heads.rows.length)));
  const left = 44;
  const gaps = heads.blocks.map((block) => block[1]);
  const several = heads.blocks.length > 1;
  const topOf = (row) =>
    22 + row * high + (several ? 18 * gaps.filter((first) => first <= row).length : 0);
  const bottom = topOf(heads.rows.length - 1) + high;
  const rows = heads.rows.map(() => svg('g', { role: 'row' }));
  map.cells = heads.place.map(([row, column], number) => {
    const cell = cellOf(map, number, left + column * wide, topOf(row), wide, high);
    rows[row].append(cell);
    return cell;
  });
  const width = left + heads.columns.length * wide + 4;
  fill(
    picture,
    {
      viewBox: `0 0 ${width} ${bottom + 24}`,
      width,
      height: bottom + 24,
      'aria-label': `${view.title} of every head; arrow keys move, Enter opens a head`,
    },
    [],
  );
  picture.replaceChildren(...labels(heads, { left, wide, high, topOf, bottom, several }), ...rows);
  markCell(map, map.current, false);
}

function labels(heads, { left, wide, high, topOf, bottom, several }) {
  const every = Math.ceil(16 / wide);
  const parts = heads.columns
    .filter((_, place) => place % every === 0)
    .map((head, place) =>
      svg(
        'text',
        {
          class: 'tick',
          x: left + (place * every + 0.5) * wide,
          y: bottom + 15,
          'text-anchor': 'middle',
        },
        String(head),
      ),
    );
  const skip = Math.ceil(13 / high);
  heads.rows.forEach((label, row) => {
    if (row % skip === 0)
      parts.push(
        svg(
          'text',
          { class: 'tick', x: left - 6, y: topOf(row) + high / 2 + 4, 'text-anchor': 'end' },
          label,
        ),
      );
  });
  parts.push(svg('text', { class: 'axis-label', x: 2, y: 13 }, 'layer ↓  head →'));
  if (several)
    for (const [name, first] of heads.blocks)
      parts.push(svg('text', { class: 'tick', x: left, y: topOf(first) - 5 }, name));
  return parts;
}

function cellOf(map, number, x, y, wide, high) {
  const { view, heads } = map;
  const text = view.text(number);
  const cell = svg('g', {
    role: 'gridcell',
    class: 'cell',
    tabindex: '-1',
    'data-head': number,
    'aria-label': `${headName(heads, number)}: ${text}`,
    on: {
      click: () => {
        markCell(map, number, false);
        map.chosen(number);
      },
      pointermove: (event) =>
        showTip(
          event.clientX,
          event.clientY,
          el('strong', { class: 'tip-title' }, headName(heads, number)),
          el('p', null, text),
        ),
      focus: () => {
        const box = cell.getBoundingClientRect();
        showTip(
          box.right,
          box.bottom,
          el('strong', { class: 'tip-title' }, headName(heads, number)),
          el('p', null, text),
        );
      },
      blur: hideTip,
    },
  });
  const stripes = view.stripes ? view.stripes(number) : null;
  if (!stripes)
    cell.append(svg('rect', { x, y, width: wide, height: high, fill: view.colour(number) }));
  else {
    stripes.forEach((verdict, turn) => {
      const mark = markOf(verdict);
      const part = wide / stripes.length;
      cell.append(
        svg('rect', {
          x: x + turn * part,
          y,
          width: part,
          height: high,
          fill: mark.colour,
          class: verdict === 'healthy' ? 'plain' : null,
        }),
      );
      const size = Math.min(0.66 * high, 1.1 * part);
      if (mark.letter && size >= 6) {
        const letter = svg(
          'text',
          {
            class: 'letter',
            x: x + (turn + 0.5) * part,
            y: y + high / 2 + 0.36 * size,
            'text-anchor': 'middle',
          },
          mark.letter,
        );
        letter.style.fontSize = `${size.toFixed(1)}px`;
        letter.style.fill = mark.ink;
        cell.append(letter);
      }
    });
  }
  cell.append(
    svg('rect', { class: 'edge', x: x + 0.5, y: y + 0.5, width: wide - 1, height: high - 1 }),
  );
  return cell;
}

function markCell(map, number, focus) {
  map.current = number;
  map.cells.forEach((cell, place) => {
    cell.setAttribute('tabindex', place === number ? '0' : '-1');
    cell.setAttribute('aria-selected', String(place === number));
  });
  const cell = map.cells[number];
  cell.parentNode.append(cell); // its frame lies above its neighbours
  if (focus) cell.focus();
}

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

function moveOnMap(map, event) {
  if (event.key === 'Enter' || event.key === ' ') {
    event.preventDefault();
    map.chosen(map.current);
    return;
  }
  if (!(event.key in STEPS)) return;
  event.preventDefault();
  const [down, right] = STEPS[event.key];
  let [row, column] = map.heads.place[map.current];
  // Places without a head are stepped over.
  do {
    row += down;
    column += right;
    if (row < 0 || column < 0 || row >= map.heads.rows.length || column >= map.heads.columns.length)
      return;
  } while (!map.cellOf.has(`${row} ${column}`));
  markCell(map, map.cellOf.get(`${row} ${column}`), true);
}

const STRANGER = { letter: '*', colour: '#009E73', ink: 'white' };

function markOf(verdict) {
  return DATA.words.marks[verdict] || STRANGER;
}

function verdictBadge(verdict) {
  const mark = markOf(verdict);
  const letter = el(
    'span',
    { class: 'letter-badge', 'aria-hidden': 'true' },
    mark.letter || '\u00a0',
  );
  if (verdict === 'healthy') letter.classList.add('plain');
  else {
    letter.style.background = mark.colour;
    letter.style.color = mark.ink;
  }
  return el('span', { class: 'verdict' }, letter, verdict);
}
