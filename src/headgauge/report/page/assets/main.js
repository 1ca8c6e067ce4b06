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
  figures: (part) => figuresPart(part, null).whole,
  table: (part) => table(part).whole,
  heads: (part) => {
    HEADS.made = headsPart(part);
    return HEADS.made.whole;
  },
  timed: timedPart,
  ledger: ledgerPart,
  manifest: manifestPart,
};
const HEADS = { made: null }; // the section on heads, where there is one

function partOf(part) {
  return PARTS[part.kind](part);
}

// Counts with a link each; where heads are counted, it also lists those that are meant.
function chipsPart({ chips, href, of_heads: ofHeads }) {
  return el(
    'ul',
    { class: 'chips' },
    sortedWords(chips).map(([word, count, share]) => {
      const click = () => ofHeads && HEADS.made.filter(word);
      return el(
        'li',
        null,
        el(
          'a',
          { href, class: 'chip', on: { click } },
          ofHeads ? verdictBadge(word) : badge(word),
          el('b', null, String(count)),
          missing(share) ? null : el('span', { class: 'where' }, percent(share)),
        ),
      );
    }),
  );
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
