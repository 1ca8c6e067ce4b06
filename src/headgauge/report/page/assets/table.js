// Tables in a box of their own, so that a wide one scrolls and the page does not.

// columns: {title, cell(row) → node or text, number: right-aligned, sort(row) → key, hint}
function table(columns, rows, options = {}) {
  const state = { by: null, down: true };
  const body = el('tbody');
  const heads = columns.map((column) =>
    headCell(column, () => {
      state.down = state.by === column ? !state.down : Boolean(column.number);
      state.by = column;
      show();
    }),
  );
  const whole = el(
    'table',
    { class: options.class },
    options.caption ? el('caption', null, options.caption) : null,
    el(
      'thead',
      null,
      el(
        'tr',
        null,
        heads.map((each) => each.cell),
      ),
    ),
    body,
  );
  let current = rows;

  function show() {
    const sorted = state.by ? sortedBy(current, state.by.sort, state.down) : current;
    body.replaceChildren(...sorted.map((row) => tableRow(columns, row, options)));
    heads.forEach((each, place) => {
      if (columns[place] === state.by)
        each.cell.setAttribute('aria-sort', state.down ? 'descending' : 'ascending');
      else each.cell.removeAttribute('aria-sort');
    });
  }

  show();
  const box = el(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': options.label || 'Table' },
    whole,
  );
  return {
    box,
    body,
    update(wanted) {
      current = wanted;
      show();
    },
  };
}

function headCell(column, sort) {
  const inner = column.sort
    ? el('button', { type: 'button', class: 'sort', on: { click: sort } }, column.title)
    : column.title;
  const cell = el(
    'th',
    { scope: 'col', class: column.number ? 'number' : null, title: column.hint },
    inner,
  );
  return { cell };
}

function tableRow(columns, row, options) {
  const cells = columns.map((column) =>
    el(
      'td',
      {
        class: [column.number ? 'number' : '', column.class || ''].join(' ').trim() || null,
        'data-label': column.title,
      },
      column.cell(row),
    ),
  );
  const line = el('tr', null, cells);
  if (options.row) options.row(line, row);
  return line;
}

// What is missing stands last, whichever way.
function sortedBy(rows, key, down) {
  const sign = down ? -1 : 1;
  return rows
    .map((row, place) => [key(row), place, row])
    .sort(([a, i], [b, j]) => {
      if (missing(a) || missing(b)) return missing(a) - missing(b) || i - j;
      return (a < b ? -sign : a > b ? sign : 0) || i - j;
    })
    .map((each) => each[2]);
}

// Columns of lists as rows of objects.
function rowsOf(columns) {
  const names = Object.keys(columns || {});
  const size = names.length ? columns[names[0]].length : 0;
  return Array.from({ length: size }, (_, place) =>
    Object.fromEntries(names.map((name) => [name, columns[name][place]])),
  );
}

// A group as the builder makes it: what is the same in all its rows stands once.
function expand(group) {
  return Array.from({ length: group.size }, (_, place) => {
    const row = { ...group.fixed };
    for (const [name, values] of Object.entries(group.lists)) row[name] = values[place];
    return row;
  });
}
