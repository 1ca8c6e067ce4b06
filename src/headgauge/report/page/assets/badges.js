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

function schemeTag(name) {
  const { title, look } = DATA.words.schemes[name] || { title: name, look: { colour: '#808080' } };
  return el('span', { class: 'scheme' }, swatch({ look: { ...look, marker: '' } }), title);
}
