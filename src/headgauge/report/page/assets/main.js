// The page from top to bottom.

const DATA = JSON.parse(document.getElementById('data').textContent);

function remembered(value) {
  // Browsers may forbid storage to files; then the choice lasts as long as the page.
  try {
    if (value !== undefined) localStorage.setItem('headgauge-theme', value);
    return localStorage.getItem('headgauge-theme');
  } catch {
    return null;
  }
}

function setUpTheme() {
  const root = document.documentElement;
  const button = document.getElementById('theme');
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  let picked = remembered();
  const show = () => {
    root.dataset.theme = picked || (system.matches ? 'dark' : 'light');
    const other = root.dataset.theme === 'dark' ? 'light' : 'dark';
    button.textContent = other === 'dark' ? '☾ Dark' : '☀ Light';
    button.setAttribute('aria-label', `Switch to ${other} colours`);
  };
  button.addEventListener('click', () => {
    picked = root.dataset.theme === 'dark' ? 'light' : 'dark';
    remembered(picked);
    show();
  });
  system.addEventListener('change', show);
  window.addEventListener('beforeprint', () => {
    root.dataset.theme = 'light';
  });
  window.addEventListener('afterprint', show);
  show();
}

// What a section is made of. Each makes an element, or {whole, and what others may ask of it}.
const PARTS = {
  text: ({ text, id, lead }) => el('p', { id, class: lead ? 'lead' : null }, prose(text)),
  notes: ({ lines }) =>
    el(
      'ul',
      { class: 'notes' },
      lines.map((line) => el('li', null, prose(line))),
    ),
  details: ({ summary, parts }) =>
    el('details', { class: 'behind' }, el('summary', null, summary), parts.map(partOf)),
  chips: chipsPart,
  glossary: glossaryPart,
  finding: findingPart,
  figures: (part) => figuresPart(part, null).whole,
  table: (part) => table(part).whole,
  heads: (part) => {
    HEADS.made = headsPart(part);
    return HEADS.made.whole;
  },
  compared: comparedPart,
  effects: effectsPart,
  timed: timedPart,
  trained: trainedPart,
  ledger: ledgerPart,
  manifest: manifestPart,
};
const HEADS = { made: null }; // the section on heads, where there is one

function partOf(part) {
  return PARTS[part.kind](part);
}

// Counts with a link to what was counted.
function chipsPart({ chips, href }) {
  return el(
    'ul',
    { class: 'chips' },
    sortedWords(chips).map(([word, count]) =>
      el('li', null, el('a', { href, class: 'chip' }, badge(word), el('b', null, count))),
    ),
  );
}

// What letters and words mean, folded; the fold says which are there.
function glossaryPart({ terms }) {
  const names = terms.map(([term]) => term).join(', ');
  return el(
    'details',
    { class: 'behind', id: 'glossary' },
    el('summary', null, 'What the words mean', el('span', { class: 'where' }, `: ${names}`)),
    el(
      'dl',
      { class: 'facts' },
      terms.map(([term, words]) => [el('dt', null, prose(term)), el('dd', null, prose(words))]),
    ),
  );
}

function findingPart({ text }) {
  const parts = text.split(/(\bL\d+H\d+(?:-call-\d+)?)/);
  return el(
    'div',
    { class: 'finding', id: 'finding' },
    el('h2', null, 'What was found, and what to do'),
    el(
      'p',
      null,
      parts.map((part, turn) => (turn % 2 ? headLink(part) : prose(part))),
    ),
  );
}

// The columns that the heads have are not held again: series name them, `rows` says whose.
function effectsPart({ figure, rows, columns }) {
  const held = { ...HEADS.made.columns, ...columns };
  const valuesOf = (name, series) => rows[series].map((number) => held[name][number]);
  const made = createFigure(figure, { valuesOf, tallest: 260 });
  made.show();
  return made.whole;
}

function build() {
  const main = document.getElementById('main');
  main.append(el('div', { id: 'overview' }, DATA.overview.map(partOf)));
  for (const { id, title, parts } of DATA.sections)
    main.append(section(id, title, parts.map(partOf)));
  if (HEADS.made) HEADS.made.started();
  main.querySelectorAll('.chips').forEach((each) => roving(each, 'a, button'));
  const links = [['top', 'Top'], ...DATA.sections.map(({ id, nav }) => [id, nav])];
  document.getElementById('nav').append(
    el(
      'ul',
      null,
      links.map(([id, name]) => el('li', null, el('a', { href: `#${id}` }, name))),
    ),
  );
}

setUpTheme();
build();
