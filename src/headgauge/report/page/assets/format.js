// Numbers and tokens as a reader sees them.

const DASH = '–';
const SUPERSCRIPT = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function missing(value) {
  return value === null || value === undefined || Number.isNaN(value);
}

function tenTo(exponent) {
  return `10${[...String(exponent)].map((each) => SUPERSCRIPT[each] || '⁻').join('')}`;
}

// Up to `digits` significant digits, with powers of ten only where zeros would have to be counted.
function sig(value, digits = 5) {
  if (missing(value)) return DASH;
  if (typeof value !== 'number') return String(value);
  if (value === 0) return '0';
  const size = Math.abs(value);
  const sign = value < 0 ? '−' : '';
  if (size >= 1e6 || size < 1e-4) {
    const [mantissa, exponent] = size.toExponential(digits - 1).split('e');
    const short = String(Number(mantissa));
    const power = tenTo(Number(exponent));
    return sign + (short === '1' ? power : `${short}·${power}`);
  }
  return sign + String(Number(size.toPrecision(digits)));
}

// A measure with its own number of digits; what is there must not read as none.
function measured(value, digits = 3) {
  if (missing(value)) return DASH;
  const text = value.toFixed(digits).replace('-', '−');
  return value !== 0 && Number(text.replace('−', '-')) === 0 ? sig(value, 1) : text;
}

function percent(value, digits = 0) {
  return missing(value) ? DASH : `${(100 * value).toFixed(digits)} %`;
}

function seconds(value) {
  if (missing(value)) return DASH;
  if (value >= 7200) return `${sig(value / 3600, 3)} h`;
  if (value >= 300) return `${sig(value / 60, 3)} min`;
  return value >= 0.1 ? `${sig(value, 3)} s` : `${sig(1000 * value, 3)} ms`;
}

const ARXIV = 'https://arxiv.org/abs/';

// A text of ours as a reader should see it: its formulas set, its sources linked.
function prose(text) {
  if (typeof text !== 'string') return text;
  return text
    .split(/(arXiv \d{4}\.\d{4,5})/)
    .flatMap((piece, place) =>
      place % 2
        ? el('a', { href: ARXIV + piece.slice(6), rel: 'noreferrer' }, piece)
        : formulas(piece),
    );
}

// Columns of lists as rows of objects.
function rowsOf(columns) {
  const names = Object.keys(columns);
  return columns[names[0]].map((_, place) =>
    Object.fromEntries(names.map((name) => [name, columns[name][place]])),
  );
}

function unique(values) {
  return [...new Set(values)];
}

// Blanks and controls would vanish: each gets a sign that is seen.
const SHOWN = { ' ': '␣', '\n': '↵', '\t': '⇥', '\r': '␍', '\u00a0': '⍽', '\u200b': '⟨ZWSP⟩' };

function visible(text) {
  if (missing(text)) return DASH;
  if (text === '') return '∅';
  return [...text]
    .map((each) => {
      if (each in SHOWN) return SHOWN[each];
      return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}]/u.test(each)
        ? `⟨U+${each.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`
        : each;
    })
    .join('');
}

// Direction marks in a token must not turn its neighbours around.
function token(text) {
  return el('bdi', { class: 'token' }, visible(text));
}
