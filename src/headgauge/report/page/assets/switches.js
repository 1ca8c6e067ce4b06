// What the reader chooses: switches above all figures, a figure's own, and what there is of them.
//
// An element of a figure says in `at` where it is shown, {switch: value}; a switch that it does not
// name does not matter to it. A place is an `at` of something that was measured.

const matches = (at, state) =>
  Object.entries(at || {}).every(([name, value]) => state[name] === value);
const only = (at, names) =>
  Object.fromEntries(Object.entries(at).filter(([name]) => names.includes(name)));

function placesOf({ panels }) {
  const places = panels.flatMap((panel) =>
    (panel.series || [panel]).map((each) => ({ ...panel.at, ...each.at })),
  );
  return [...new Map(places.map((each) => [JSON.stringify(each), each])).values()];
}

// The place that shares most with what is wanted; a switch counts more than all after it.
function closest(places, wanted, order) {
  const shared = (place) =>
    order.reduce((sum, name) => 2 * sum + (name in place && place[name] === wanted[name]), 0);
  const better = (a, b) =>
    shared(a) - shared(b) || Object.keys(a).length - Object.keys(b).length;
  return places.reduce((best, each) => (better(each, best) > 0 ? each : best), places[0] || {});
}

// The switches that several figures share, in one bar. Without any it is empty.
function createSwitches(figures) {
  const shared = new Map();
  for (const { name, title, options } of figures.flatMap((each) => each.switches || []).filter(
    (each) => each.shared,
  )) {
    if (!shared.has(name)) shared.set(name, { title, options: new Map() });
    options.forEach(([value, text]) => shared.get(name).options.set(value, text));
  }
  const order = [...shared.keys()];
  const places = figures.flatMap(placesOf).map((each) => only(each, order));
  const first = Object.fromEntries(
    [...shared].map(([name, { options }]) => [name, options.keys().next().value]),
  );
  const held = { current: { ...first, ...closest(places, first, order) }, listeners: [] };
  const boxes = {};
  // A combination that no figure has gives way to the closest with the value just chosen.
  function choose(name, value) {
    const wanted = { ...held.current, [name]: value };
    const having = places.filter((each) => each[name] === value);
    held.current = { ...wanted, ...closest(having, wanted, order) };
    for (const [each, box] of Object.entries(boxes)) box.value = held.current[each];
    held.listeners.forEach((heard) => heard());
  }
  held.bar = el('div', { class: 'choices', role: 'group', 'aria-label': 'What all figures show' });
  for (const [name, { title, options }] of shared) {
    const made = select(title, [...options], held.current[name], (value) => choose(name, value));
    made.box.disabled = options.size < 2;
    made.box.dataset.field = name;
    boxes[name] = made.box;
    held.bar.append(made.whole);
  }
  held.bar.hidden = !shared.size;
  return held;
}

// A figure's own switches beside the shared ones; `changed` is called when one is set.
function createChoice(description, shared, changed) {
  const places = placesOf(description);
  const all = description.switches || [];
  const common = all.filter((each) => each.shared).map((each) => each.name);
  const own = {};
  const picks = all
    .filter((each) => !each.shared)
    .map(({ name, title, options }) => {
      const pick = select(title, [], '', (value) => {
        own[name] = value;
        changed(name);
      });
      pick.box.dataset.field = name;
      return { ...pick, name, options };
    });
  // Of a switch that changes nothing here nothing is said.
  const matter = ({ name, options }) =>
    options.length > 1 && places.some((each) => name in each);
  const words = (state, named = all.map(({ name }) => name)) =>
    all
      .filter((each) => matter(each) && named.includes(each.name))
      .map(({ name, title, options }) => {
        const [, text] = options.find(([value]) => value === state[name]) || ['', DASH];
        return `${title}: ${text}`;
      })
      .join(', ');

  // What is shown at the settings there are, and what to say where they are not those asked for.
  function settle(last) {
    const asked = only(shared.current, common);
    const near = { ...asked, ...only(closest(places, asked, common), common) };
    const here = places.filter((place) => matches(only(place, common), near));
    for (const { name, options, box, whole } of picks) {
      const there = options.filter(([value]) => here.some((place) => place[name] === value));
      if (!there.some(([value]) => value === own[name])) own[name] = (there[0] || options[0])[0];
      setOptions(box, there, own[name]);
      whole.hidden = there.length < 2;
    }
    const wanted = { ...near, ...own };
    const state = { ...wanted, ...closest(here, wanted, [last, ...all.map(({ name }) => name)]) };
    const meant = { ...asked, ...own };
    picks.forEach(({ name, box }) => {
      own[name] = state[name];
      box.value = state[name];
    });
    const said = matches(meant, state)
      ? ''
      : `Not measured for ${words(meant)}; shown: ${words(state)}.`;
    return { state, said };
  }
  const settings = (state) => all.filter(matter).map(({ name }) => state[name]);

  // Why a panel has one point where at another setting it has a line.
  function whyOne(panel, panels, state) {
    const { x } = panel;
    const is = (each) =>
      each === panel || (each.at && each.x.label === x.label && each.y.label === panel.y.label);
    const lines = panels.filter(is).flatMap(({ series = [], at }) =>
      series.map((each) => ({
        at: { ...at, ...each.at },
        xs: unique([...each.x].filter((_, place) => !missing(each.y[place]))),
      })),
    );
    const switched = lines.filter(({ at, xs }) => Object.keys(at).length && xs.length);
    const here = unique(switched.filter(({ at }) => matches(at, state)).flatMap(({ xs }) => xs));
    const longer = switched.filter(({ xs }) => xs.length > 1);
    if (here.length !== 1 || !longer.length) return '';
    const order = all.map(({ name }) => name);
    const near = closest(
      longer.map(({ at }) => at),
      state,
      order,
    );
    const apart = order.filter((name) => name in near && near[name] !== state[name]);
    const [there, name] = [longer.find(({ at }) => at === near).xs, x.short || x.label];
    return (
      `One point: measured only at ${name} = ${tickName(x, here[0])} for ${words(state, apart)}; ` +
      `at ${there.length} values of ${name} for ${words(near, apart)}.`
    );
  }
  return { boxes: picks.map((each) => each.whole), settle, words, settings, whyOne };
}
