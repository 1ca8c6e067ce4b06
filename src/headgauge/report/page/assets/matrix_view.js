// What is seen of a matrix: cells, tokens or places along the edges, the cursor; zoomed and moved.

const EDGE = 68; // pixels at the left and on top, for tokens
const REST = 8; // pixels at the right and below
const LABELLED = 12; // pixels of a cell from which on each has its token
const LARGEST = 28; // pixels of a cell
// What weighs more stands out more from the paper, and what weighs little can still be seen on it.
MAPS.onDark = MAPS.viridis.split(' ').slice(2).join(' ');
MAPS.onLight = MAPS.viridis.split(' ').slice(0, -1).reverse().join(' ');

// The cells alone are drawn anew only where the view has changed: the cursor is quick.
function drawMatrix(matrix, changed) {
  const { picture, cells, at } = matrix;
  const wide = picture.clientWidth;
  if (!wide) return;
  matrix.wide = wide;
  const sharp = window.devicePixelRatio || 1;
  if (changed) {
    const room = wide - EDGE - REST;
    matrix.fit = Math.min(LARGEST, room / Math.max(matrix.queries, matrix.across));
    matrix.size = [room, matrix.fit * matrix.queries];
    const high = Math.ceil(EDGE + matrix.size[1] + REST);
    picture.style.height = `${high}px`;
    holdView(matrix);
    [cells.width, cells.height] = matrix.size.map((each) => Math.ceil(each * sharp));
    picture.width = Math.round(wide * sharp);
    picture.height = Math.round(high * sharp);
    paintCells(matrix, sharp);
  }
  const pen = picture.getContext('2d');
  const { color: soft } = getComputedStyle(picture);
  pen.setTransform(sharp, 0, 0, sharp, 0, 0);
  pen.clearRect(0, 0, wide, picture.height);
  pen.drawImage(cells, EDGE, EDGE, cells.width / sharp, cells.height / sharp);
  fill(picture, { 'data-cursor': at, 'data-cell': matrix.cell.toFixed(3) }, []);
  pen.strokeStyle = soft;
  pen.fillStyle = soft;
  pen.strokeRect(EDGE - 0.5, EDGE - 0.5, matrix.size[0] + 1, matrix.size[1] + 1);
  if (!matrix.saving) drawCursor(matrix, pen);
  pen.font = '11px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';
  pen.textBaseline = 'middle';
  drawEdge(matrix, pen, 0);
  pen.rotate(-Math.PI / 2); // along the top, from the bottom up
  drawEdge(matrix, pen, 1);
}

function paintCells(matrix, sharp) {
  const { cells, begins, keys, weights, x, y } = matrix;
  const { width, height } = cells;
  const step = matrix.cell * sharp;
  const from = (place, start) => Math.round((place - start) * step);
  // A pixel may have many cells: the heaviest is seen.
  const most = new Uint16Array(width * height);
  for (let row = Math.floor(y); row < matrix.queries && from(row, y) < height; row += 1) {
    const top = Math.max(0, from(row, y));
    const bottom = Math.min(height, Math.max(top + 1, from(row + 1, y)));
    for (let each = begins[row]; each < begins[row + 1]; each += 1) {
      const left = Math.max(0, from(keys[each], x));
      const right = Math.min(width, Math.max(left + 1, from(keys[each] + 1, x)));
      if (keys[each] + 1 <= x) continue;
      for (let line = top; line < bottom; line += 1)
        for (let spot = line * width + left; spot < line * width + right; spot += 1)
          if (most[spot] < weights[each]) most[spot] = weights[each];
    }
  }
  const drawn = new ImageData(width, height);
  const colours = matrixColours(matrix);
  const pixels = new Uint32Array(drawn.data.buffer);
  for (let spot = 0; spot < most.length; spot += 1) pixels[spot] = colours[Math.min(1000, most[spot])];
  cells.getContext('2d').putImageData(drawn, 0, 0);
}

// A colour for each thousandth; nothing, and so the paper, for 0. The legend goes with them.
function matrixColours(matrix) {
  if (matrix.colours) return matrix.colours;
  const map = document.documentElement.dataset.theme === 'dark' ? 'onDark' : 'onLight';
  const bytes = new Uint8ClampedArray(4 * 1001);
  for (let weight = 1; weight <= 1000; weight += 1)
    bytes.set([...mapColour(map, Math.sqrt(weight / 1000)).match(/\d+/g), 255], 4 * weight);
  matrix.colours = new Uint32Array(bytes.buffer);
  const said = 'weight, by its square root; blank: below 1/1024';
  matrix.legend.replaceChildren(colourLegend({ map, ends: ['0.001', '0.25', '1'], said }));
  return matrix.colours;
}

// The row and the column of the cursor, and their cell.
function drawCursor({ at, x, y, cell, size }, pen) {
  const [row, key] = at;
  const [left, top] = [EDGE + (key - x) * cell, EDGE + (row - y) * cell];
  const side = Math.max(1, cell);
  const { outlineColor: colour } = getComputedStyle(pen.canvas);
  pen.save();
  pen.beginPath();
  pen.rect(EDGE, EDGE, ...size);
  pen.clip();
  pen.fillStyle = colour;
  pen.strokeStyle = colour;
  pen.globalAlpha = cell < 3 ? 0.45 : 0.22;
  pen.fillRect(EDGE, top, size[0], side);
  pen.fillRect(left, EDGE, side, size[1]);
  pen.globalAlpha = 1;
  pen.lineWidth = 2;
  pen.strokeRect(left - 2, top - 2, side + 4, side + 4);
  pen.restore();
}

// Tokens where there is room for them, else places: axis 0 are the queries, 1 the keys.
function drawEdge({ at, tokens, x, y, cell, size }, pen, axis) {
  const [start, long, count] = [axis ? x : y, size[1 - axis], tokens[axis].length];
  const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
  const step = cell >= LABELLED ? 1 : every.find((each) => each * cell >= 40) || 10000;
  const words = (place) =>
    step === 1 && cell >= LABELLED ? cut(visible(tokens[axis][place]), 9) : String(place);
  const write = (text, place) => {
    const spot = EDGE + (place + 0.5 - start) * cell;
    if (spot < EDGE || spot > EDGE + long) return;
    if (axis) pen.fillText(text, 6 - EDGE, spot);
    else pen.fillText(text, EDGE - 6, spot);
  };
  pen.textAlign = axis ? 'left' : 'right';
  for (let place = Math.ceil(start / step) * step; place < count; place += step)
    if (step === 1 || Math.abs(place - at[axis]) * cell > 14) write(words(place), place);
  pen.font = `bold ${pen.font}`;
  if (step > 1) write(String(at[axis]), at[axis]);
  pen.font = pen.font.replace('bold ', '');
}

function cut(text, most) {
  const signs = [...text];
  return signs.length > most ? `${signs.slice(0, most - 1).join('')}…` : text;
}

// Never smaller than all of it, and nothing beyond its ends.
function holdView(matrix) {
  matrix.cell = Math.max(matrix.fit, Math.min(LARGEST, matrix.cell));
  const held = (from, count, room) => Math.max(0, Math.min(count - room / matrix.cell, from));
  matrix.x = held(matrix.x, matrix.across, matrix.size[0]);
  matrix.y = held(matrix.y, matrix.queries, matrix.size[1]);
  // All of it in sight, a finger moves the page.
  matrix.picture.style.touchAction = matrix.cell > matrix.fit ? 'none' : 'pan-x pan-y';
}

// About a point of the cells, in pixels; without one about the cursor, or what is in the middle.
function zoomMatrix(matrix, factor, about) {
  const before = matrix.cell;
  const [row, key] = matrix.at;
  const cursor = [(key + 0.5 - matrix.x) * before, (row + 0.5 - matrix.y) * before];
  const inside = cursor.every((each, axis) => each >= 0 && each <= matrix.size[axis]);
  const [right, down] = about || (inside ? cursor : matrix.size.map((each) => each / 2));
  matrix.cell = before * factor;
  holdView(matrix);
  matrix.x += right / before - right / matrix.cell;
  matrix.y += down / before - down / matrix.cell;
  if (!about && inside) bringCursor(matrix);
  drawMatrix(matrix, true);
}

// Its cell is wholly in sight.
function bringCursor(matrix) {
  const { at, cell, size } = matrix;
  const inSight = (start, place, room) => Math.max(place + 1 - room / cell, Math.min(place, start));
  matrix.x = inSight(matrix.x, at[1], size[0]);
  matrix.y = inSight(matrix.y, at[0], size[1]);
}

function listenOnMatrix(matrix) {
  const { picture } = matrix;
  const held = new Map(); // fingers, or the pressed mouse, by their ids
  let moved = false;
  const spot = ({ clientX, clientY }) => {
    const box = picture.getBoundingClientRect();
    return [clientX - box.left - EDGE, clientY - box.top - EDGE];
  };
  const point = (event) => {
    const [right, down] = spot(event);
    if (right < 0 || down < 0 || right >= matrix.size[0] || down >= matrix.size[1]) return;
    const place = (pixel, start) => Math.floor(start + pixel / matrix.cell);
    goTo(matrix, place(down, matrix.y), place(right, matrix.x));
  };
  const spread = ([a, b]) => (b ? Math.hypot(a[0] - b[0], a[1] - b[1]) : 0);
  const middle = ([a, b]) => (b ? [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] : a);
  picture.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    moved = held.size > 0;
    held.set(event.pointerId, spot(event));
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener('pointermove', (event) => {
    if (!held.has(event.pointerId)) {
      point(event);
      return;
    }
    const before = [...held.values()];
    const [from, to] = [held.get(event.pointerId), spot(event)];
    if (!moved && Math.hypot(to[0] - from[0], to[1] - from[1]) < 4) return;
    moved = true;
    held.set(event.pointerId, to);
    const after = [...held.values()];
    const [old, now] = [middle(before), middle(after)];
    matrix.x -= (now[0] - old[0]) / matrix.cell;
    matrix.y -= (now[1] - old[1]) / matrix.cell;
    zoomMatrix(matrix, spread(before) ? spread(after) / spread(before) : 1, now);
  });
  picture.addEventListener('pointerup', (event) => {
    if (held.delete(event.pointerId) && !moved) point(event);
  });
  picture.addEventListener('pointercancel', (event) => held.delete(event.pointerId));
  picture.addEventListener('wheel', (event) => {
    // The page is scrolled over it, unless it was pressed or a pinch (with Ctrl) is meant.
    if (!event.ctrlKey && document.activeElement !== picture) return;
    if (event.deltaY > 0 && matrix.cell <= matrix.fit) return;
    event.preventDefault();
    zoomMatrix(matrix, Math.exp(-event.deltaY / (event.deltaMode ? 12 : 300)), spot(event));
  });
  picture.addEventListener('keydown', (event) => pressedOnMatrix(matrix, event));
}

function pressedOnMatrix(matrix, event) {
  const factors = { '+': 2, '=': 2, '-': 0.5, 0: 0 };
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in factors) zoomMatrix(matrix, factors[event.key]);
  else if (event.key in STEPS) {
    const [down, right] = STEPS[event.key].map((each) => each * (event.shiftKey ? 10 : 1));
    goTo(matrix, matrix.at[0] + down, matrix.at[1] + right);
    bringCursor(matrix);
    drawMatrix(matrix, true);
  } else return;
  event.preventDefault();
}
