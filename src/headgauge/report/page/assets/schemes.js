// The schemes of normalisation: one name and one look each, in every chart, table and sphere.

function schemeWords(name) {
  return DATA.words.schemes[name] || { title: name, colour: '#808080', dash: null };
}

// A line of a chart; `wide` is its width where it is not the usual one.
function schemeLine(name, wide) {
  const { title, colour, dash } = schemeWords(name);
  return { id: name, name: title, look: { colour, dash, wide }, marker: false };
}

// The look of a series on the node that holds its marks.
function dress(node, { look }) {
  if (!look) return node;
  node.style.setProperty('--own', look.colour);
  if (look.dash) node.style.setProperty('--dash', look.dash);
  if (look.wide) node.style.setProperty('--wide', look.wide);
  return node;
}

function schemeTag(name) {
  return el('span', { class: 'scheme' }, swatch(schemeLine(name)), schemeWords(name).title);
}
