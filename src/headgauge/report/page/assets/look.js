// How a line looks: colour, dashes, the shape of its points. Each tells it apart alone.

const DASHES = {
  dashed: '6 4',
  dotted: '2 3',
  dashdot: '8 3 2 3',
  longdash: '12 3',
  dashdotdot: '8 3 2 3 2 3',
};
const PLAIN = { colour: '#777777', line: 'dashed' };
// How many corners, and where the first of them points, in turns clockwise from the right.
const CORNERS = {
  square: [4, 1 / 8],
  diamond: [4, 0],
  triangle: [3, 3 / 4],
  down: [3, 1 / 4],
  hexagon: [6, 0],
  star: [5, 3 / 4],
  right: [3, 0],
};

function shapePath(shape, x, y, r) {
  const at = (turn, size) =>
    `${(x + size * r * Math.cos(2 * Math.PI * turn)).toFixed(1)} ` +
    `${(y + size * r * Math.sin(2 * Math.PI * turn)).toFixed(1)}`;
  if (shape === 'cross' || shape === 'plus') {
    const [a, b, c, d] = [0, 1, 2, 3].map((k) => at(k / 4 + (shape === 'cross' ? 1 / 8 : 0), 1.3));
    return `M${a}L${c}M${b}L${d}`;
  }
  if (!(shape in CORNERS))
    return `M${at(0.5, 1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
  const [count, first] = CORNERS[shape];
  const corners = Array.from({ length: count }, (_, k) => [
    at(first + k / count, 1.25),
    shape === 'star' ? at(first + (k + 0.5) / count, 0.55) : null,
  ]);
  return `M${corners.flat().filter(Boolean).join('L')}Z`;
}

// The look on the node that holds what is drawn. What is nearly black is the ink of the page.
function dress(node, look) {
  const black = channels(look.colour).every((each) => each < 64);
  node.style.setProperty('--colour', black ? 'var(--ink)' : look.colour);
  node.classList.add('look');
  if (look.line in DASHES) node.style.setProperty('--dash', DASHES[look.line]);
  if (look.width) node.style.setProperty('--wide', 1.9 * look.width);
  if (look.opacity) node.style.opacity = look.opacity;
  return node;
}

function swatch({ look, boxes, hollow }) {
  const parts = [];
  if (look.line !== 'none') parts.push(svg('path', { class: 'line', d: 'M1 6H23' }));
  if (boxes) parts.push(svg('rect', { x: 7, y: 1, width: 10, height: 10, class: 'box' }));
  else if (look.marker)
    parts.push(
      svg('path', {
        d: shapePath(look.marker, 12, 6, 3.4),
        class: hollow ? 'marker open' : 'marker',
      }),
    );
  const picture = { class: 'swatch', width: 24, height: 12, 'aria-hidden': 'true' };
  return dress(svg('svg', picture, parts), look);
}
