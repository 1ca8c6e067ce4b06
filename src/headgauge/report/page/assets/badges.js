// Words with a sign and a colour: verdicts on claims, verdicts on heads, schemes.

const WORDS = {
  reproduced: ['good', '✓'],
  'reproduced only with the printed formula': ['partly', '◐'],
  'depends on the text': ['partly', '≠'],
  'not reproduced': ['bad', '✗'],
  undecided: ['open', '~'],
  'too few rows to judge': ['open', '…'],
  'one text: not judged': ['open', '1'],
  'cannot be tested here': ['open', '?'],
  true: ['good', '✓'],
  'true with a condition': ['partly', '◐'],
  'true but vacuous': ['open', '○'],
  misprint: ['partly', '✎'],
  false: ['bad', '✗'],
  'not implied': ['open', '?'],
  judged: ['partly', '•'],
  'closest here': ['good', '•'],
};

function badge(word) {
  const [kind, sign] = WORDS[word] || ['open', '•'];
  return el(
    'span',
    { class: `badge ${kind}` },
    el('span', { 'aria-hidden': 'true' }, `${sign} `),
    word,
  );
}

// [word, …] in the order above; what is not known keeps its place before them.
function sortedWords(list) {
  const known = Object.keys(WORDS);
  return [...list].sort(([a], [b]) => known.indexOf(a) - known.indexOf(b));
}

const STRANGER = { letter: '*', look: { colour: '#009E73', ink: 'white' } };

function stripeOf(verdict) {
  const { letter, look } = DATA.words.verdicts[verdict] || STRANGER;
  return { letter, colour: look.colour, ink: look.ink, plain: verdict === 'healthy' };
}

function verdictBadge(verdict) {
  const { letter, colour, ink, plain } = stripeOf(verdict);
  const sign = el('span', { class: 'letter-badge', 'aria-hidden': 'true' }, letter || '\u00a0');
  if (plain) sign.classList.add('plain');
  else Object.assign(sign.style, { background: colour, color: ink });
  return el('span', { class: 'verdict' }, sign, verdict);
}

// A verdict with its count, to press: the heads that have it stand out on the map and in the list.
// With `jump` it stands elsewhere, and its twin beside the map takes over.
function verdictChip(verdict, count, share, jump) {
  const press = () => {
    HEADS.made.filter(chip.getAttribute('aria-pressed') === 'true' ? '' : verdict);
    if (!jump) return;
    document.getElementById('heads').scrollIntoView({ block: 'start' });
    document.querySelector(`#heads [data-verdict="${verdict}"]`).focus({ preventScroll: true });
  };
  const chip = el(
    'button',
    {
      type: 'button',
      class: 'chip',
      'data-verdict': verdict,
      'aria-pressed': String(!verdict),
      on: { click: press },
    },
    verdict ? verdictBadge(verdict) : 'all',
    el('b', null, count),
    missing(share) ? null : el('span', { class: 'where' }, percent(share)),
  );
  return chip;
}

// To a head by its short name; the page opens it.
function headLink(name) {
  return el('a', { href: `#${name}` }, name);
}

function schemeTag(name) {
  const { title, look } = DATA.words.schemes[name] || { title: name, look: { colour: '#808080' } };
  return el('span', { class: 'scheme' }, swatch({ look: { ...look, marker: '' } }), title);
}
