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

// The heads are those of the first text's run.
function onFirstText() {
  const several = DATA.paper && DATA.paper.texts.length > 1;
  return several ? ` on ${DATA.paper.texts[0].name}` : '';
}

function headCounts(filterHeads) {
  const counts = rowsOf(DATA.counts).filter((row) => row.heads > 0);
  const chips = counts.map((row) =>
    el(
      'li',
      null,
      el(
        'a',
        { href: '#heads', class: 'chip', on: { click: () => filterHeads(row.verdict) } },
        verdictBadge(row.verdict),
        el('b', null, String(row.heads)),
        el('span', { class: 'where' }, percent(row.share)),
      ),
    ),
  );
  return [
    el(
      'p',
      { class: 'lead' },
      `${plural(DATA.heads.head.length, 'attention head')} in `,
      `${plural(DATA.heads.rows.length, 'layer')}${onFirstText()}, by verdict (a head can have several):`,
    ),
    el('ul', { class: 'chips' }, chips),
  ];
}

// heads: the section on heads, or null in a simulation
function overview(heads) {
  const parts = [];
  if (heads) parts.push(...headCounts(heads.filter));
  if (DATA.paper && DATA.paper.verdicts) {
    const words = countWords(DATA.paper.verdicts.verdict);
    parts.push(
      el(
        'p',
        { class: 'lead' },
        `${plural(DATA.paper.verdicts.verdict.length, 'claim')} of the paper, measured here:`,
      ),
      el(
        'ul',
        { class: 'chips' },
        words.map(([word, count]) =>
          el(
            'li',
            null,
            el('a', { href: '#verdict', class: 'chip' }, badge(word), el('b', null, String(count))),
          ),
        ),
      ),
    );
  }
  if (DATA.notes.length)
    parts.push(
      el(
        'ul',
        { class: 'notes' },
        DATA.notes.map((text) => el('li', null, text)),
      ),
    );
  return el('div', { id: 'overview' }, parts);
}

function paperFigures(paper) {
  const followed = [paper.fig2a, paper.fig2b, paper.fig2c, paper.fig3].filter(Boolean);
  const figures = [];
  const parts = [
    el(
      'p',
      null,
      'Point at a figure to read it, drag to zoom, double-click to go back; arrow keys work too. ',
      'Press a line in a legend to hide it.',
    ),
  ];
  const judged = rowsOf(paper.choices).find((row) => row.measured);
  const first = { ...USUAL, ...judged, text: paper.texts.length ? paper.texts[0].name : undefined };
  const choice = createChoice(
    followed.length ? choicesIn(followed.flat()) : paper.texts.map(({ name }) => ({ text: name })),
    first,
  );
  const notes = Object.entries(DATA.words.rules).filter(([rule]) =>
    followed.flat().some(({ fixed }) => fixed.rule === rule),
  );
  parts.push(choice.bar);
  if (notes.length)
    parts.push(
      el(
        'p',
        { class: 'where', id: 'rule-notes' },
        'Other rules are put on logits that were not trained for them: ',
        `${notes.map(([, said]) => said).join('; ')}.`,
      ),
    );
  if (paper.vanishing) figures.push(vanishingFigure(paper.vanishing, choice));
  if (paper.fig1) figures.push(figure1(paper.fig1, choice));
  if (followed.length) {
    const pair = el('div', { class: 'pair' });
    if (paper.fig2a)
      pair.append(
        distanceFigure(
          'fig2a',
          'Figure 2a. Distance over L',
          paper.fig2a,
          choice,
          'length',
          'top_n',
        ),
      );
    if (paper.fig2b)
      pair.append(
        distanceFigure(
          'fig2b',
          'Figure 2b. Distance over N',
          paper.fig2b,
          choice,
          'top_n',
          'length',
        ),
      );
    if (pair.firstChild) figures.push(pair);
    if (paper.fig2c) figures.push(criticalFigure(paper.fig2c, paper.fig2c_tests || [], rowsOf(paper.fig2c_growth), choice));
    if (paper.fig3) figures.push(separabilityFigure(paper.fig3, choice));
  }
  if (paper.fig4) figures.push(sensitivityFigure(paper.fig4, choice));
  return figures.length ? section('figures', 'The figures, redrawn', ...parts, ...figures) : null;
}

function build() {
  const main = document.getElementById('main');
  const heads = DATA.heads && headsSection(DATA.heads);
  const { paper, dynamics, depth, outlook } = DATA;
  const parts = [];
  if (paper && paper.verdicts) parts.push(['Verdict', paperVerdicts(paper)]);
  if (paper) parts.push(['Figures', paperFigures(paper)]);
  if (paper && paper.choices) parts.push(['Choices', paperChoices(paper)]);
  if (dynamics) parts.push(['Dynamics', dynamicsSection(dynamics)]);
  if (heads) parts.push(['Heads', heads.whole]);
  if (depth) parts.push(['Depth', depthSection(depth)]);
  if (outlook) parts.push(['Outlook', outlookSection(outlook)]);
  if (DATA.timing.length) parts.push(['Timing', paperTiming(DATA.timing)]);
  if (DATA.claims.length) parts.push(['Claims', claimsSection(DATA.claims)]);
  parts.push(['Manifest', manifestSection(DATA.manifest)]);
  const there = parts.filter(([, part]) => part);
  main.append(overview(heads), ...there.map(([, part]) => part));
  if (heads) heads.first();
  document.getElementById('nav').append(
    el(
      'ul',
      null,
      el('li', null, el('a', { href: '#top' }, 'Top')),
      there.map(([name, part]) => el('li', null, el('a', { href: `#${part.id}` }, name))),
    ),
  );
}

setUpTheme();
build();
