// Tables from their description, in a box of their own: a wide one scrolls and the page does not.
//
// {label, look, title, text, tall, columns: [{title, kind, digits, hint, sorts}], rows: lists of
//  cells, marked: numbers of rows,
//  filter: {title, id, options: [[value, text]], of: value or values by row, counted}}
// A cell {value, note} has its note below.

const told = (cell) => (missing(cell) ? DASH : prose(String(cell)));
const FORMATS = {
  text: told,
  words: told,
  number: sig,
  fixed: measured,
  own: ({ value, digits, strong, error = '' }) => [
    el(strong ? 'b' : 'span', null, measured(value, digits)),
    error,
  ],
  percent,
  seconds,
  times: ([a, b]) => `${sig(a)} × ${sig(b)}`,
  share: ([part, whole], digits) => `${sig(part, digits)} of ${sig(whole)}`,
  span: ([low, high], digits) => `${sig(low, digits)} to ${sig(high, digits)}`,
  interval: ([value, low, high], digits) =>
    measured(value, digits) +
    (missing(low) ? '' : ` (${measured(low, digits)} to ${measured(high, digits)})`),
  error: ([value, error], digits) =>
    measured(value, digits) + (missing(error) ? '' : ` ± ${measured(error, digits)}`),
  signed: ([value, error]) =>
    missing(value)
      ? DASH
      : (value > 0 ? '+' : '') +
        sig(value, 3) +
        (missing(error) ? '' : ` ± ${sig(error, 2)}`),
  badge,
  marks: (cell) => cell.map(markBadge),
  chip: ([mark, count, share]) => markChip(mark, count, share, true),
  heads: (cell) => cell.map(([name, number]) => el('p', null, headLink(name), ` ${sig(number, 3)}`)),
  scheme: schemeTag,
  lines: (cell) => cell.map(tableLine),
};
const LEFT = ['text', 'badge', 'marks', 'chip', 'heads', 'scheme', 'lines', 'link'];
const isRight = ({ kind = 'text', right }) => right || !LEFT.includes(kind);

// [class, text, badge beside it]; a badge may also stand alone.
function tableLine([kind, text, word]) {
  if (kind === 'badge') return badge(text);
  return el('p', { class: kind || null }, prose(text), word ? [' ', badge(word)] : null);
}

// open(cell): what pressing a cell of the kind `link` does; its cells are [number, text].
function table(description, open) {
  const { columns, rows, filter } = description;
  const state = { by: null, down: true, wanted: '', rows };
  const body = el('tbody');
  const heads = columns.map((column, place) =>
    headCell(column, () => {
      state.down = state.by === place ? !state.down : isRight(column);
      state.by = place;
      show();
    }),
  );
  const count = el('span', { class: 'where', role: 'status' });

  function show() {
    let numbers = state.rows.map((_, number) => number);
    if (filter && state.wanted)
      numbers = numbers.filter((number) => isWanted(filter, number, state.wanted));
    if (state.by !== null) numbers = sortedBy(state.rows, numbers, state.by, state.down);
    body.replaceChildren(
      ...numbers.map((number) => tableRow(description, state.rows[number], number, open)),
    );
    heads.forEach((cell, place) => {
      const way = state.down ? 'descending' : 'ascending';
      if (place === state.by) cell.setAttribute('aria-sort', way);
      else cell.removeAttribute('aria-sort');
    });
    if (filter && filter.counted) count.textContent = `${numbers.length} ${filter.counted}`;
  }

  const pick =
    filter &&
    select(filter.title, filter.options, filter.options[0][0], (value) => {
      state.wanted = value;
      show();
    });
  if (pick) {
    pick.box.id = filter.id;
    pick.whole.hidden = filter.options.length < 2;
    [[state.wanted]] = filter.options;
  }
  show();
  const what = description.label || description.title;
  const region = el(
    'div',
    { class: `scroll${description.tall ? ' tall' : ''}`, role: 'region', 'aria-label': what },
    el('table', { class: description.look }, el('thead', null, el('tr', null, heads)), body),
  );
  // What does not scroll is no stop on the way through the page.
  new ResizeObserver(() => {
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = region;
    region.tabIndex = scrollWidth > clientWidth || scrollHeight > clientHeight ? 0 : -1;
  }).observe(region);
  roving(region, '.sort');
  roving(body, '.link, .chip, a');
  return {
    whole: el(
      'div',
      { class: 'table-whole', id: description.id },
      description.title ? el('h3', null, prose(description.title)) : null,
      description.text ? el('p', null, prose(description.text)) : null,
      pick ? el('div', { class: 'controls' }, pick.whole, count) : null,
      region,
      exportTools({ what, name: () => what, rows: () => csvRows(description, state) }),
    ),
    update(wanted) {
      state.rows = wanted;
      show();
    },
    filter(value) {
      pick.box.value = value;
      state.wanted = value;
      show();
    },
  };
}

const isWanted = ({ of }, number, wanted) => [of[number]].flat().includes(wanted);

// All rows as they are stored; where some are filtered out it says which are shown.
function csvRows({ columns, filter }, { rows, wanted }) {
  return rows.map((row, number) => {
    const cells = columns.map((column, place) => csvCells(column, row[place]));
    const shown = filter && (!wanted || isWanted(filter, number, wanted) ? 'yes' : 'no');
    return Object.assign({}, ...cells, shown && { shown });
  });
}

// A cell of several numbers has a column for each.
const CSV_PARTS = {
  interval: ['', ', low', ', high'],
  span: [', from', ', to'],
  share: ['', ', of'],
  times: ['', ', times'],
  error: ['', ', standard error'],
  signed: ['', ', standard error'],
  chip: ['', ', heads', ', share'],
};
const CSV_UNITS = { percent: ' (share)', seconds: ' (s)' };

function csvCells({ title = 'marked', kind = 'text' }, cell) {
  if (cell && cell.note)
    return { ...csvCells({ title, kind }, cell.value), [`${title}, note`]: cell.note };
  if (kind in CSV_PARTS)
    return Object.fromEntries(
      CSV_PARTS[kind].map((part, place) => [title + part, (cell || [])[place]]),
    );
  const line = ([, text, word]) => [text, word].filter(Boolean).join(' ');
  const texts = {
    marks: () => cell.join('; '),
    lines: () => cell.map(line).join('; '),
    link: () => cell[1],
    own: () => cell.value,
    heads: () => cell.map(([name, number]) => `${name} ${number}`).join('; '),
    scheme: () => (DATA.words.schemes[cell] || { title: cell }).title,
  };
  return { [title + (CSV_UNITS[kind] || '')]: texts[kind] ? texts[kind]() : cell };
}

function headCell(column, sort) {
  const { hint, sorts } = column;
  const title = prose(column.title);
  return el(
    'th',
    { scope: 'col', class: isRight(column) ? 'number' : null, title: hint },
    sorts ? el('button', { type: 'button', class: 'sort', on: { click: sort } }, title) : title,
  );
}

function tableRow({ columns, marked }, row, number, open) {
  const cells = columns.map((column, place) =>
    el(
      'td',
      { class: isRight(column) ? 'number' : null, 'data-label': column.title },
      tableCell(column, row[place], open),
    ),
  );
  return el('tr', { class: (marked || []).includes(number) ? 'chosen' : null }, cells);
}

function tableCell({ kind = 'text', digits }, cell, open) {
  if (kind === 'link') {
    const [number, text] = cell;
    const press = { 'aria-label': `Open ${text}`, on: { click: () => open(number) } };
    return el('button', { type: 'button', class: 'link', ...press }, text);
  }
  if (cell && cell.note)
    return [tableCell({ kind, digits }, cell.value), el('p', { class: 'where' }, prose(cell.note))];
  return FORMATS[kind](cell, digits);
}

// What is missing stands last, whichever way.
function sortedBy(rows, numbers, column, down) {
  const sign = down ? -1 : 1;
  const key = (number) => [rows[number][column]].flat()[0];
  return [...numbers].sort((i, j) => {
    const [a, b] = [key(i), key(j)];
    if (missing(a) || missing(b)) return missing(a) - missing(b) || i - j;
    return (a < b ? -sign : a > b ? sign : 0) || i - j;
  });
}
