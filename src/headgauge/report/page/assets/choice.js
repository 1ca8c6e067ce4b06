// The text, vectors, their length, keys and rule that all figures of the paper follow.

const FIELDS = ['text', 'vectors', 'keys', 'rule', 'scale']; // what matters most stands first
const FIELD_TITLES = {
  text: 'Text',
  vectors: 'Vectors',
  keys: 'Keys',
  rule: 'Rule',
  scale: 'Length of vectors',
};
const USUAL = { vectors: 'value', scale: 'unit', keys: 'visible', rule: 'model' };

function choiceText(choice) {
  const rule = !choice.rule || choice.rule === 'model' ? '' : `, rule ${choice.rule}`;
  const text = choice.text ? `${choice.text}, ` : '';
  return `${text}${choice.vectors} vectors, ${choice.scale} length, ${choice.keys} keys${rule}`;
}

function sameChoice(a, b) {
  return FIELDS.every((field) => a[field] === b[field]);
}

function choicesIn(groups) {
  const found = new Map();
  for (const { fixed } of groups) {
    const choice = Object.fromEntries(FIELDS.map((field) => [field, fixed[field]]));
    found.set(JSON.stringify(choice), choice);
  }
  return [...found.values()];
}

// The choice that shares most with the wanted one; a field counts more than all after it.
function closest(choices, wanted) {
  const shared = (choice) =>
    FIELDS.reduce((sum, field) => 2 * sum + (choice[field] === wanted[field] ? 1 : 0), 0);
  return choices.reduce(
    (best, each) => (best === null || shared(each) > shared(best) ? each : best),
    null,
  );
}

function createChoice(everything, first) {
  const state = { current: closest(everything, first), listeners: [] };
  const boxes = {};
  const bar = el('div', { class: 'choices', role: 'group', 'aria-label': 'What all figures show' });
  for (const field of FIELDS) {
    const values = unique(everything.map((each) => each[field]));
    if (values[0] === undefined) continue; // no figure that has it was measured
    const made = select(
      FIELD_TITLES[field],
      values.map((each) => [each, fieldText(field, each)]),
      state.current[field],
      (value) => choose(field, value),
    );
    made.box.disabled = values.length < 2;
    made.box.dataset.field = field;
    boxes[field] = made.box;
    bar.append(made.whole);
  }
  // A combination that no figure has gives way to the closest with the value just chosen.
  function choose(field, value) {
    const wanted = { ...state.current, [field]: value };
    state.current = closest(
      everything.filter((each) => each[field] === value),
      wanted,
    );
    for (const [each, box] of Object.entries(boxes)) box.value = state.current[each];
    state.listeners.forEach((heard) => heard(state.current));
  }
  return {
    bar,
    state,
    follow(heard) {
      state.listeners.push(heard);
      heard(state.current);
    },
  };
}

// A text with what it is there for: to choose vectors and keys by, or to judge.
function textName(name) {
  const { role } = DATA.paper.texts.find((each) => each.name === name) || {};
  return role ? `${name} (${role})` : name;
}

function fieldText(field, value) {
  if (field === 'text') return textName(value);
  if (field === 'rule' && value === 'model') return "the model's own";
  if (field === 'keys')
    return value === 'visible'
      ? 'visible to the query'
      : value === 'all'
        ? 'all of the window'
        : value;
  return value;
}

// The groups of a figure for a choice, and what to say if it lacks that one.
function groupsFor(groups, wanted) {
  const choice = closest(choicesIn(groups), wanted);
  const held = groups.filter(({ fixed }) => sameChoice(fixed, choice));
  const said = sameChoice(choice, wanted)
    ? ''
    : `Not measured for ${choiceText(wanted)}; shown: ${choiceText(choice)}.`;
  return { choice, held, said };
}
