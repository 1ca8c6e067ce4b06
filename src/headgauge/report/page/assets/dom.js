// Elements. Text is only ever set as text: what a corpus holds can never become markup.

const SVG_SPACE = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') {
      for (const [event, heard] of Object.entries(value)) node.addEventListener(event, heard);
    } else {
      node.setAttribute(name, value === true ? '' : String(value));
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG_SPACE, tag), attributes, children);
}

// A labelled select; `options` are [value, text] pairs, or [group, such pairs].
function select(label, options, value, changed) {
  const box = el('select', { on: { change: () => changed(box.value) } });
  setOptions(box, options, value);
  const whole = el('label', { class: 'control' }, el('span', null, label), box);
  return { whole, box };
}

function setOptions(box, options, value) {
  const made = ([each, text]) =>
    Array.isArray(text)
      ? el('optgroup', { label: each }, text.map(made))
      : el('option', { value: each }, text);
  box.replaceChildren(...options.map(made));
  box.value = String(value);
}

function checkbox(label, value, changed) {
  const box = el('input', { type: 'checkbox', on: { change: () => changed(box.checked) } });
  box.checked = value;
  return el('label', { class: 'check' }, box, el('span', null, label));
}

function section(id, title, ...children) {
  return el(
    'section',
    { id, 'aria-labelledby': `${id}-title` },
    el('h2', { id: `${id}-title` }, title),
    ...children,
  );
}

let lastNumber = 0;
function freshId(stem) {
  lastNumber += 1;
  return `${stem}-${lastNumber}`;
}
