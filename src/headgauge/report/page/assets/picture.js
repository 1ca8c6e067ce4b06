// What stands on the page as one SVG that needs no page: every style written out, colours as on
// white paper.

// No part of a picture: controls, and what follows the mouse.
const NOT_DRAWN =
  'h3, select, label, .controls, .save, .zoomers, .now, .cursor, .selecting, .chosen-ring, ' +
  '.map-side > .where, ' +
  '.legend button[aria-pressed="false"]';
// What a style says of a shape, and what holds where nothing is said.
const UNSAID = {
  fill: 'rgb(0, 0, 0)',
  'fill-opacity': '1',
  stroke: 'none',
  'stroke-width': '1px',
  'stroke-dasharray': 'none',
  'stroke-linejoin': 'miter',
  'paint-order': 'normal',
  'font-size': '',
  'font-weight': '400',
  'text-anchor': 'start',
  visibility: 'visible',
  opacity: '1',
};
const CLEAR = 'rgba(0, 0, 0, 0)';
const ROOM = 12; // pixels around a picture

function inLight(make) {
  const { dataset } = document.documentElement;
  const was = dataset.theme;
  dataset.theme = 'light';
  try {
    return make();
  } finally {
    dataset.theme = was;
  }
}

function pictureOf(whole, ...headings) {
  whole.classList.add('drawn');
  const parts = [...whole.querySelectorAll('*')]
    .filter((each) => !each.closest(NOT_DRAWN) && !each.parentNode.closest('svg'))
    .filter((each) => each.checkVisibility())
    .flatMap(partsOf);
  whole.classList.remove('drawn');
  const end = (side, far, room) => far(...parts.map(({ box }) => box[side])) + room;
  const { fontFamily } = getComputedStyle(whole);
  const lines = headings.filter(Boolean).map((words, place) => {
    const size = place ? 12 : 15;
    const pen = penOf(`${place ? 400 : 650} ${size}px ${fontFamily}`);
    const look = { 'font-size': size, 'font-weight': place ? 400 : 650, x: ROOM };
    return { look, words, wide: pen.measureText(words).width + 2 * ROOM };
  });
  const left = end('left', Math.min, -ROOM);
  const top = end('top', Math.min, -ROOM - 24 * lines.length);
  const width = Math.ceil(
    Math.max(end('right', Math.max, ROOM) - left, ...lines.map(({ wide }) => wide)),
  );
  const height = Math.ceil(end('bottom', Math.max, ROOM) - top);
  return svg(
    'svg',
    { width, height, viewBox: `0 0 ${width} ${height}`, 'font-family': fontFamily },
    svg('rect', { width, height, fill: 'white' }),
    lines.map(({ look, words }, place) =>
      svg('text', { ...look, y: ROOM + 14 + 22 * place }, svgFormulas(words)),
    ),
    parts.map(({ box, draw: drawn }) => drawn(box.left - left, box.top - top)),
  );
}

// [{box: its place in the window, draw(x, y)}]: a picture, a ground, a formula's line, texts.
function partsOf(element) {
  const box = element.getBoundingClientRect();
  const { width, height } = box;
  if (element.matches('svg'))
    return [{ box, draw: (x, y) => fill(still(element), { x, y, width, height }, []) }];
  if (element.matches('canvas')) {
    const image = { width, height, href: element.toDataURL() };
    return [{ box, draw: (x, y) => svg('image', { x, y, ...image }) }];
  }
  const style = getComputedStyle(element);
  const parts = [];
  const colour = plainColour(style.color);
  if (style.backgroundColor !== CLEAR) {
    const ground = { width, height, rx: 3, fill: plainColour(style.backgroundColor) };
    parts.push({ box, draw: (x, y) => svg('rect', { x, y, ...ground }) });
  }
  const line = (path) => (x, y) =>
    svg('path', { d: `M${x} ${y}${path}`, stroke: colour, fill: 'none' });
  if (element.matches('mfrac')) {
    const down = element.firstChild.getBoundingClientRect().bottom - box.top + 0.5;
    parts.push({ box, draw: line(`m0 ${down}h${width}`) });
  }
  if (element.matches('msqrt')) {
    const across = element.firstChild.getBoundingClientRect().left - box.left;
    const sign = `m0 ${0.6 * height}l${across / 2} ${0.4 * height}L`;
    parts.push({
      box,
      draw: (x, y) => line(`${sign}${x + across} ${y + 1}h${width - across}`)(x, y),
    });
  }
  const texts = [...element.childNodes].filter((each) => each.nodeType === Node.TEXT_NODE);
  return [...parts, ...texts.flatMap((each) => linesOf(each, style, colour))];
}

// A text as it is broken into lines.
function linesOf(node, style, colour) {
  const lines = [];
  const range = document.createRange();
  for (const { 0: word, index } of node.data.matchAll(/\S+\s*/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const box = range.getBoundingClientRect();
    const last = lines[lines.length - 1];
    const same = last && Math.abs(last.box.top - box.top) < 2;
    if (!same) lines.push({ words: word, box });
    else {
      last.words += word;
      last.box = { left: last.box.left, top: last.box.top, right: box.right, bottom: box.bottom };
    }
  }
  const up = penOf(style.font).measureText('x').fontBoundingBoxAscent;
  const look = { 'font-size': style.fontSize, 'font-weight': style.fontWeight, fill: colour };
  return lines.map(({ box, words }) => ({
    box,
    draw: (x, y) => svg('text', { x, y: y + up, ...look }, words.trimEnd()),
  }));
}

// A copy that looks the same without the page's styles.
function still(node) {
  if (node.nodeType === Node.TEXT_NODE) return node.cloneNode();
  const copy = node.cloneNode();
  for (const { name } of [...copy.attributes])
    if (/^(class|style|role|tabindex|data-|aria-)/.test(name)) copy.removeAttribute(name);
  const style = getComputedStyle(node);
  // A group hands down what it has, and its parts say it themselves.
  const told = node.matches('g, svg') ? ['opacity'] : Object.keys(UNSAID);
  for (const name of told) {
    const value = style.getPropertyValue(name);
    if (value !== UNSAID[name]) copy.setAttribute(name, plainColour(value));
  }
  const kept = [...node.childNodes].filter((each) => !each.matches || !each.matches(NOT_DRAWN));
  copy.append(...kept.map(still));
  return copy;
}

function penOf(font) {
  const pen = el('canvas', { width: 1, height: 1 }).getContext('2d');
  pen.font = font;
  return pen;
}

// Not every program that shows pictures knows every way to tell a colour.
function plainColour(value) {
  if (!/^(ok|color)/.test(value)) return value;
  const pen = penOf('');
  pen.fillStyle = value;
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
  return `rgb(${red}, ${green}, ${blue})`;
}
