// Words with a sign and a colour: verdicts on claims, verdicts on heads and their roles, schemes.

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

// What a head is marked with: a verdict or its role.
function stripeOf(mark) {
  const { verdicts, roles, changes } = DATA.words;
  const { letter, look } = verdicts[mark] || roles[mark] || changes[mark] || STRANGER;
  return { letter, colour: look.colour, ink: look.ink, plain: !letter };
}

function markBadge(mark) {
  const { letter, colour, ink, plain } = stripeOf(mark);
  const sign = el('span', { class: 'letter-badge', 'aria-hidden': 'true' }, letter || '\u00a0');
  if (plain) sign.classList.add('plain');
  else Object.assign(sign.style, { background: colour, color: ink });
  return el('span', { class: 'verdict' }, sign, mark);
}

// A mark with its count, to press: the heads that have it stand out on the map and in the list.
// With `jump` it stands elsewhere, and its twin beside the map takes over.
function markChip(mark, count, share, jump) {
  const press = () => {
    HEADS.made.filter(chip.getAttribute('aria-pressed') === 'true' ? '' : mark);
    if (!jump) return;
    document.getElementById('heads').scrollIntoView({ block: 'start' });
    document.querySelector(`#heads [data-mark="${mark}"]`).focus({ preventScroll: true });
  };
  const chip = el(
    'button',
    {
      type: 'button',
      class: 'chip',
      'data-mark': mark,
      'aria-pressed': String(!mark),
      on: { click: press },
    },
    mark ? markBadge(mark) : 'all',
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
