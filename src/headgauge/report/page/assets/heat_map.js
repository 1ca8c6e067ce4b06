// Cells by row and column, read with the mouse or the arrow keys: a colour each, or stripes with a
// letter each.
//
// grid: {rows and columns: labels, blocks: [name, first row], place: [row, column] by cell,
//        name(cell), corner, room: pixels for the columns, told: what the keyboard does, edges}
// view: {title, colour(cell), text(cell), stripes(cell): [{letter, colour, ink}] or null}

function createHeatMap(grid, chosen) {
  const picture = svg('svg', { class: grid.edges ? 'heat edges' : 'heat', role: 'grid' });
  const map = { grid, picture, cells: [], current: 0, chosen, view: null, cellOf: new Map() };
  map.faint = () => false;
  // Dark and light around one another, so that it is seen on every colour.
  map.ring = svg('g', { class: 'chosen-ring' }, svg('rect'), svg('rect'));
  grid.place.forEach(([row, column], number) => map.cellOf.set(`${row} ${column}`, number));
  picture.addEventListener('keydown', (event) => moveOnMap(map, event));
  // The page may move under a resting mouse: what the keyboard reads stays.
  picture.addEventListener('pointerleave', () => picture.querySelector(':focus-visible') || hideTip());
  return map;
}

// A heat map of a figure's description.
function createMapPanel(panel, label) {
  const { rows, columns, x, y, values, verdicts, blocks = [] } = panel;
  const absent = new Set((panel.absent || []).map(String));
  const place = rows
    .flatMap((_, row) => columns.map((_each, column) => [row, column]))
    .filter((each) => !absent.has(String(each)));
  const room = Math.min(760, document.documentElement.clientWidth - 96);
  const name = (cell) => {
    const [row, column] = place[cell];
    return `${x.short || x.label} = ${columns[column]}, ${y.short || y.label} = ${rows[row]}`;
  };
  const corner = `${y.short || y.label} ↑  ${x.short || x.label} →`;
  const told = '; arrow keys move';
  const map = createHeatMap({ rows, columns, blocks, place, name, corner, room, told }, () => {});
  const { measures, layers } = DATA.words;
  const known = measures[panel.measure] || layers[panel.measure] || { title: panel.measure };
  const measure = panel.difference
    ? { title: known.title, unit: panel.unit, centre: 0 }
    : { ...known, unit: panel.unit || known.unit };
  const scaleOf = colouring(values.flat(), measure);
  const at = (list, cell) => list[place[cell][0]][place[cell][1]];
  const view = {
    title: label,
    text: (cell) =>
      verdicts ? at(verdicts, cell).join(', ') : `${measure.title}: ${sig(at(values, cell), 4)}`,
    of: measure.title,
    value: (cell) => (verdicts ? at(verdicts, cell).join('; ') : at(values, cell)),
    colour: (cell) => scaleOf.colour(at(values, cell)),
    stripes: (cell) => (verdicts ? at(verdicts, cell).map(stripeOf) : null),
  };
  const whole = el(
    'div',
    { class: 'chart-whole' },
    el('p', { class: 'chart-title' }, prose(panel.title)),
    el('div', { class: 'map-legend' }, verdicts ? null : colourLegend(scaleOf)),
    el('div', { class: 'map-scroll' }, map.picture),
  );
  return { panel, whole, map, view };
}

function showMapPanel({ panel, map, view }) {
  drawHeatMap(map, view);
  if (!missing(panel.contour)) map.picture.append(contourOf(panel, map));
}

// Along the sides between cells above and cells below the level.
function contourOf({ contour, values }, { left, wide, high, topOf }) {
  const parted = (a, b) => !missing(a) && !missing(b) && a >= contour !== b >= contour;
  const sides = values.flatMap((line, row) =>
    line.map((value, column) => {
      const [x, y] = [left + (column + 1) * wide, topOf(row) + high];
      const beside = parted(value, line[column + 1]) ? `M${x} ${y - high}v${high}` : '';
      const under = (values[row + 1] || [])[column];
      const below = parted(value, under) ? `M${x - wide} ${y}h${wide}` : '';
      return beside + below;
    }),
  );
  return svg('path', { class: 'contour', d: sides.join('') || 'M0 0' });
}

function drawHeatMap(map, view) {
  map.view = view;
  const { grid, picture } = map;
  const wide = Math.max(10, Math.min(34, Math.floor(grid.room / grid.columns.length)));
  const high = Math.max(12, Math.min(22, Math.floor(620 / grid.rows.length)));
  const left = Math.max(44, 6.5 * Math.max(...grid.rows.map((row) => String(row).length)) + 10);
  const gaps = grid.blocks.map((block) => block[1]);
  const several = grid.blocks.length > 1;
  const topOf = (row) =>
    22 + row * high + (several ? 18 * gaps.filter((first) => first <= row).length : 0);
  const bottom = topOf(grid.rows.length - 1) + high;
  const rows = grid.rows.map(() => svg('g', { role: 'row' }));
  Object.assign(map, { left, wide, high, topOf });
  map.cells = grid.place.map(([row, column], number) => {
    const cell = cellOf(map, number, left + column * wide, topOf(row), wide, high);
    rows[row].append(cell);
    return cell;
  });
  const width = left + grid.columns.length * wide + 4;
  fill(
    picture,
    {
      viewBox: `0 0 ${width} ${bottom + 24}`,
      width,
      height: bottom + 24,
      'aria-label': `${view.title}${grid.told}`,
    },
    [],
  );
  const told = labels(grid, { left, wide, high, topOf, bottom, several });
  picture.replaceChildren(...told, ...rows, map.ring);
  markCell(map, map.current, false);
}

function labels(grid, { left, wide, high, topOf, bottom, several }) {
  const longest = Math.max(...grid.columns.map((each) => String(each).length));
  const every = Math.ceil(Math.max(16, 7 * longest + 2) / wide);
  const parts = grid.columns
    .filter((_, place) => place % every === 0)
    .map((label, place) =>
      svg(
        'text',
        {
          class: 'tick',
          x: left + (place * every + 0.5) * wide,
          y: bottom + 15,
          'text-anchor': 'middle',
        },
        String(label),
      ),
    );
  const skip = Math.ceil(13 / high);
  grid.rows.forEach((label, row) => {
    if (row % skip === 0)
      parts.push(
        svg(
          'text',
          { class: 'tick', x: left - 6, y: topOf(row) + high / 2 + 4, 'text-anchor': 'end' },
          label,
        ),
      );
  });
  parts.push(svg('text', { class: 'axis-label', x: 2, y: 13 }, svgFormulas(grid.corner)));
  if (several)
    for (const [name, first] of grid.blocks)
      parts.push(svg('text', { class: 'tick', x: left, y: topOf(first) - 5 }, name));
  return parts;
}

function cellOf(map, number, x, y, wide, high) {
  const { view, grid } = map;
  const text = view.text(number);
  const tell = (left, top) =>
    showTip(
      left,
      top,
      el('strong', { class: 'tip-title' }, grid.name(number)),
      el('p', null, text),
    );
  const cell = svg('g', {
    role: 'gridcell',
    class: map.faint(number) ? 'cell faint' : 'cell',
    tabindex: '-1',
    'data-cell': number,
    'aria-label': `${grid.name(number)}: ${text}`,
    on: {
      click: () => {
        markCell(map, number, true);
        map.chosen(number);
      },
      pointermove: (event) => tell(event.clientX, event.clientY),
      focus: () => {
        const box = cell.getBoundingClientRect();
        tell(box.right, box.bottom);
      },
      blur: hideTip,
    },
  });
  const stripes = view.stripes ? view.stripes(number) : null;
  if (!stripes)
    cell.append(svg('rect', { x, y, width: wide, height: high, fill: view.colour(number) }));
  else {
    stripes.forEach((mark, turn) => {
      const part = wide / stripes.length;
      cell.append(
        svg('rect', {
          x: x + turn * part,
          y,
          width: part,
          height: high,
          fill: mark.colour,
          class: mark.plain ? 'plain' : null,
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
  const { left, wide, high, topOf } = map;
  const [row, column] = map.grid.place[number];
  const box = { x: left + column * wide, y: topOf(row), width: wide, height: high };
  [...map.ring.children].forEach((rect) => fill(rect, box, []));
  if (focus) map.cells[number].focus();
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
  let [row, column] = map.grid.place[map.current];
  // Places without a head are stepped over.
  do {
    row += down;
    column += right;
    if (row < 0 || column < 0 || row >= map.grid.rows.length || column >= map.grid.columns.length)
      return;
  } while (!map.cellOf.has(`${row} ${column}`));
  markCell(map, map.cellOf.get(`${row} ${column}`), true);
}

// A map of heads and beside it what is told of the one that is open.
function mapAndPanel(map, legend, panel) {
  return el(
    'div',
    { class: 'map-and-panel' },
    el(
      'div',
      { class: 'map-side' },
      legend,
      el('div', { class: 'map-scroll' }, map.picture),
      el('p', { class: 'where' }, 'Press a cell to open its head.'),
      mapTools(map),
    ),
    panel,
  );
}
