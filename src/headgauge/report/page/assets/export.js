// Take it with you: what is drawn as SVG and PNG, its numbers as CSV. All of it is made here.

// what: as a reader calls it; name(): of the file, without its ending; picture(): the element that
// is drawn, where there is one, and its headings; rows(): an object each, by titles.
function exportTools({ what, name, picture, rows }) {
  const button = (ending, make) =>
    el(
      'button',
      {
        type: 'button',
        'aria-label': `Save ${what} as ${ending}`,
        on: { click: async () => save(`${name()}.${ending}`, await make()) },
      },
      ending,
    );
  const drawn = () => inLight(() => pictureOf(...picture()));
  const kinds = [
    picture && button('SVG', () => new Blob([textOf(drawn())], { type: 'image/svg+xml' })),
    picture && button('PNG', () => pngOf(drawn())),
    button('CSV', () => new Blob([csvOf(rows())], { type: 'text/csv' })),
  ];
  const label = { role: 'toolbar', 'aria-label': `Save ${what}` };
  return roving(el('div', { class: 'save', ...label }, 'Save', kinds.filter(Boolean)), 'button');
}

// Of a map of heads, which has its title above it.
function mapTools(map) {
  return exportTools({
    what: 'the map',
    name: () => `map ${map.view.title}`,
    picture: () => [map.picture.closest('.map-side'), map.view.title],
    rows: () =>
      map.cells.map((_, cell) => ({
        head: map.grid.name(cell),
        [map.view.title]: map.view.value(cell),
      })),
  });
}

function save(name, blob) {
  const href = URL.createObjectURL(blob);
  const [, stem, ending] = name.match(/^(.*)\.(\w+)$/);
  const plain = stem.replace(/[^\p{L}\p{N}.]+/gu, '-').replace(/^-|-$/g, '').slice(0, 120);
  el('a', { href, download: `${plain}.${ending.toLowerCase()}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60000);
}

function csvOf(rows) {
  const told = (title) => rows.some((row) => !missing(row[title]));
  const titles = unique(rows.flatMap((row) => Object.keys(row))).filter(told);
  const lines = [titles, ...rows.map((row) => titles.map((each) => row[each]))];
  return lines.map((line) => `${line.map(csvCell).join(',')}\r\n`).join('');
}

function csvCell(value) {
  if (missing(value)) return '';
  if (typeof value === 'number') return String(value);
  // A spreadsheet would run what begins like this.
  const text = String(value).replace(/^(?=[=+@\t\r]|-[^\d.])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const textOf = (picture) => new XMLSerializer().serializeToString(picture);

async function pngOf(picture) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(textOf(picture))}`;
  await image.decode();
  const times = Math.min(2, 16000 / Math.max(image.width, image.height)); // canvases end somewhere
  const canvas = el('canvas', { width: image.width * times, height: image.height * times });
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => {
    canvas.toBlob(done, 'image/png');
  });
}
