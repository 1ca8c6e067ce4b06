// Formulas in a text, set as formulas: sub- and superscripts, plain fractions, roots.
//
// What is not surely one stays the text it is. A part is a string, or one of {base, sub, sup},
// {top, bottom}, {root} with lists of parts, and with the `source` it was read from.

const MATH_SPACE = 'http://www.w3.org/1998/Math/MathML';
const MAY_BE = /[_^√/₀-₉⁻⁰¹²³⁴-⁹]/;
const WORD = /[A-Za-z](?:[A-Za-z]+|(?=\d))[A-Za-z0-9]*/y;
const NUMBER = /\d+(?:\.\d+)?|\.\d+/y;
const SYMBOL = /(?:max|min|[A-Za-z]|[\u0370-\u03ffᾱ∇‖])[\u0300-\u036f]*(?:′|'(?![A-Za-z]))*/y;
const SCRIPTS = [
  ['sub', /_(?:(?={)|([A-Za-z]{1,3}|\d+)(?![A-Za-z0-9_]|\.[A-Za-z]))/y],
  ['sub', /([₀-₉]+)/y],
  ['sup', /\^(?:(?=[{(])|([-−]?\d+(?:\.\d+)?|[A-Za-z](?![A-Za-z])|[\u0370-\u03ff]))/y],
  ['sup', /(⁻?[⁰¹²³⁴-⁹ᵗ]+)/y],
];
const SMALL = '₀₁₂₃₄₅₆₇₈₉⁻-⁰¹²³⁴⁵⁶⁷⁸⁹ᵗ';
const LARGE = '0123456789−−0123456789t';
const CLOSED_BY = { '(': ')', '{': '}' };
// A part of a name or of a path.
const IN_NAME = /(?:[_.\-]|[A-Za-z]{2}\/)$/;
// What stands before it belongs above the line too: a factor, a function.
const FACTOR = /(?:[\p{L}\p{N}\p{M})\]}‖|′'√/]|[\u0370-\u03ff)\]‖]\s+)$/u;
const FUNCTION = /(?:^|[^A-Za-z])(?:log|ln|exp|max|min|mean|[A-Zb-z])\s+$/;
// What stands after it belongs below the line too, or it is a path.
const GOES_ON = /^(?:[\p{L}\p{N}\p{M}([{‖√/_^′]|\.[A-Za-z])/u;
const NO_FRACTION = /^(?:n\/a|w\/o|i\/o|‖.*|.*\/‖)$/i;

function match(pattern, text, place) {
  pattern.lastIndex = place;
  return pattern.exec(text);
}

// [what stands between, place after] of the bracket that opens here; null where none closes it.
function bracket(text, place) {
  const close = CLOSED_BY[text[place]];
  let depth = 0;
  for (let k = place; close && k < text.length; k += 1) {
    depth += (text[k] === text[place]) - (text[k] === close);
    if (depth === 0) return [text.slice(place + 1, k), k + 1];
  }
  return null;
}

function scriptsOf(text, place, flat) {
  const found = { end: place };
  for (let before = -1; before !== found.end; ) {
    before = found.end;
    for (const [side, pattern] of SCRIPTS) {
      const script = found[side] ? null : match(pattern, text, found.end);
      const after = script && found.end + script[0].length;
      const held = script && (script[1] ? [script[1], after] : bracket(text, after));
      if (!held) continue;
      const large = [...held[0]].map((each) => LARGE[SMALL.indexOf(each)] || each);
      Object.assign(found, { [side]: parsed(large.join(''), flat), end: held[1] });
    }
  }
  return found;
}

// A number, a root, a bracket or a symbol with its scripts: {parts, end}, and of a bracket `inner`.
function operand(text, place, flat) {
  if (text[place] === '√' && !flat) {
    const under = match(WORD, text, place + 1) ? null : operand(text, place + 1);
    return under && { parts: [{ root: under.inner || under.parts }], end: under.end };
  }
  const number = match(NUMBER, text, place);
  if (number) {
    const { sup, end } = scriptsOf(text, place + number[0].length, flat);
    if (sup) return { parts: [{ base: [number[0]], sup }], end };
    return { parts: [number[0]], end: place + number[0].length, number: true };
  }
  const group = text[place] === '(' ? bracket(text, place) : null;
  const symbol = match(SYMBOL, text, place);
  if (!group && !symbol) return null;
  const inner = group && parsed(group[0], flat);
  const own = group ? ['(', ...inner, ')'] : [symbol[0]];
  const after = group ? group[1] : place + symbol[0].length;
  const { sub, sup, end } = scriptsOf(text, after, flat);
  return sub || sup ? { parts: [{ base: own, sub, sup }], end } : { parts: own, end, inner };
}

function fraction(text, place, above) {
  const below = text[above.end] === '/' ? operand(text, above.end + 1) : null;
  if (!below || (above.number && below.number)) return null;
  const [before, whole] = [text.slice(0, place), text.slice(place, below.end)];
  if (FACTOR.test(before) || FUNCTION.test(before) || NO_FRACTION.test(whole)) return null;
  if (GOES_ON.test(text.slice(below.end))) return null;
  const [top, bottom] = [above, below].map(({ inner, parts }) => inner || parts);
  return { parts: [{ top, bottom }], end: below.end };
}

// `flat`: without fractions and roots.
function parsed(text, flat = false) {
  if (!MAY_BE.test(text)) return [text];
  const parts = [''];
  const add = (part, source) => {
    if (typeof part !== 'string') parts.push({ source, ...part }, '');
    else parts[parts.length - 1] += part;
  };
  for (let place = 0; place < text.length; ) {
    const word = match(WORD, text, place);
    const named = (word && !/^m(ax|in)$/.test(word[0])) || IN_NAME.test(text.slice(0, place));
    const one = named ? null : operand(text, place, flat);
    const found = (one && !flat && fraction(text, place, one)) || one;
    const end = found ? found.end : place + (word ? word[0].length : 1);
    const source = text.slice(place, end);
    (found ? found.parts : [source]).forEach((part) => add(part, source));
    place = end;
  }
  return parts.filter(Boolean);
}

function math(tag, ...children) {
  return fill(document.createElementNS(MATH_SPACE, tag), null, children);
}

function setPart(part) {
  const row = (parts) => math('mrow', parts.map(setPart));
  if (typeof part === 'string') return math('mtext', part.replaceAll(' ', '\u00a0'));
  if (part.top) return math('mfrac', row(part.top), row(part.bottom));
  if (part.root) return math('msqrt', row(part.root));
  const scripts = [part.sub, part.sup].filter(Boolean).map(row);
  const tag = scripts.length > 1 ? 'msubsup' : part.sub ? 'msub' : 'msup';
  return math(tag, row(part.base), scripts);
}

// A text as text and formulas.
function formulas(text) {
  return parsed(text).map((part) =>
    typeof part === 'string'
      ? part
      : fill(math('math', setPart(part)), { alttext: part.source, 'aria-label': part.source }, []),
  );
}

// The same for the text of a picture, where nothing stands above a line.
function svgFormulas(text) {
  let last = 0;
  const piece = (parts, level) => {
    const moved = { dy: 4 * (last - level) || null, 'font-size': level ? '0.78em' : null };
    last = level;
    return svg('tspan', moved, parts.map((each) => each.source || each));
  };
  return parsed(text, true).map((part) => {
    if (typeof part === 'string') return piece([part], 0);
    const { base, sub, sup } = part;
    return [piece(base, 0), sub && piece(sub, -1), sup && piece(sup, 1)];
  });
}

// Whoever copies a formula gets what it was read from.
document.addEventListener('copy', (event) => {
  const chosen = document.getSelection();
  const part = chosen.rangeCount ? chosen.getRangeAt(0).cloneContents() : el('div');
  const set = [...part.querySelectorAll('math')];
  if (!set.length) return;
  set.forEach((each) => each.replaceWith(each.getAttribute('alttext')));
  const lines = document.body.appendChild(el('div', null, part));
  event.clipboardData.setData('text/plain', lines.innerText);
  lines.remove();
  event.preventDefault();
});
