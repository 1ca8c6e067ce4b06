// The heads: a map of all, a panel of one, a list.

function headsPart(given) {
  const kinds = rowsOf(given.kinds);
  const heads = {
    ...given,
    verdicts: rowsOf(given.verdicts).map((row) => ({ ...row, ...kinds[row.kind] })),
  };
  const { names, curves } = heads;
  const state = { what: 'verdicts', curves: 0, n: null };
  const verdictsOf = names.map((_, number) =>
    heads.verdicts.filter((row) => row.of === number).map((row) => row.verdict),
  );
  const roleOf = rolesOf(heads.roles);
  const marksOf = names.map((_, number) => [...verdictsOf[number], ...roleNames(roleOf[number])]);
  const panel = createHeadPanel({ ...heads, roleOf });
  const legend = el('div', { class: 'map-legend' });
  const grid = {
    ...heads,
    name: (number) => names[number],
    corner: 'layer ↓  head →',
    room: 300,
    told: ' of every head; arrow keys move, Enter opens a head',
    edges: true,
  };
  const map = createHeatMap(grid, (number) => open(number, true));
  const list = table(heads.table, (number) => {
    markCell(map, number, false);
    open(number, true);
  });

  function open(number, moved) {
    showHead(panel, number, curves[state.curves]);
    if (!moved) return;
    hideTip();
    history.replaceState(null, '', `#${heads.links[number]}`);
    const box = panel.whole.getBoundingClientRect();
    // On a phone the panel lies below the map: go there, or nothing seems to happen.
    if (box.top > window.innerHeight * 0.7 || box.top < 0)
      panel.whole.scrollIntoView({ block: 'start' });
  }

  // Of the head that the address names, if it does.
  function follow() {
    const number = heads.links.indexOf(window.location.hash.slice(1));
    if (number < 0) return false;
    markCell(map, number, false);
    open(number, false);
    panel.whole.scrollIntoView({ block: 'start' });
    panel.whole.focus({ preventScroll: true });
    return true;
  }
  window.addEventListener('hashchange', follow);

  // Heads with a verdict or a role stand out, or all again.
  function filter(mark) {
    list.filter(mark);
    map.faint = (number) => mark && !marksOf[number].includes(mark);
    show();
    document
      .querySelectorAll('[data-mark][aria-pressed]')
      .forEach((chip) => chip.setAttribute('aria-pressed', chip.dataset.mark === mark));
  }
  const listed = list.whole.querySelector('select');
  listed.addEventListener('change', () => filter(listed.value));

  const pick = (id, title, options, changed) => {
    const made = select(title, options, options.length ? options[0][0] : '', changed);
    made.box.id = id;
    return made;
  };
  const pickWhat = pick('map-measure', 'Colour by', whatOptions(heads), (value) => {
    state.what = value;
    show();
  });
  const pickN = pick('map-n', 'N', [], (value) => {
    state.n = Number(value);
    show();
  });
  const choices = curves.map((each, place) => [place, each.words]);
  const pickCurves = pick('map-choice', 'Vectors and keys', choices, (value) => {
    state.curves = Number(value);
    show();
    open(panel.number, false);
  });
  pickCurves.whole.hidden = curves.length < 2;

  function show() {
    const chosen = curves[state.curves];
    if (chosen) {
      if (!chosen.ns.includes(state.n)) state.n = nearestTo(chosen.ns, state.n || 16);
      setOptions(
        pickN.box,
        chosen.ns.map((each) => [each, String(each)]),
        state.n,
      );
    }
    pickN.whole.hidden = !state.what.startsWith('curve ');
    const marks = {
      verdicts: () => markView('Verdicts', verdictsOf),
      roles: () => markView('Roles', roleOf.map(roleNames)),
    };
    const view = (marks[state.what] || (() => measureView(heads, state.what, chosen, state.n)))();
    drawHeatMap(map, view);
    legend.replaceChildren(view.legend);
  }
  show();
  const whole = el(
    'div',
    null,
    el(
      'div',
      { class: 'chips', role: 'group', 'aria-label': 'Heads by verdict' },
      markChip('', names.length),
      heads.chips.map((chip) => markChip(...chip)),
    ),
    heads.role_chips.length
      ? el(
          'div',
          { class: 'chips', role: 'group', 'aria-label': 'Heads by role' },
          el('span', { class: 'where' }, 'Role:'),
          heads.role_chips.map((chip) => markChip(...chip)),
        )
      : null,
    el('div', { class: 'controls' }, pickWhat.whole, pickN.whole, pickCurves.whole),
    mapAndPanel(map, legend, panel.whole),
    list.whole,
  );
  return {
    whole,
    filter,
    columns: { ...heads.measures, effect_error: heads.effect_error, head_name: heads.links },
    started() {
      if (follow()) return;
      markCell(map, heads.worst, false);
      open(heads.worst, false);
    },
  };
}

function nearestTo(values, wanted) {
  const far = (each) => Math.abs(each - wanted);
  return values.reduce((best, each) => (far(each) < far(best) ? each : best), values[0]);
}

// By head its role with the number and the line it was given by.
function rolesOf({ kinds, ...own }) {
  const shared = rowsOf(kinds);
  return rowsOf(own).map((row) => ({ ...row, ...shared[row.kind] }));
}

const roleNames = ({ role }) => (missing(role) ? [] : [role]);

function whatOptions({ measures, over_n: overN, role_chips: roles }) {
  const titled = (name) => DATA.words.measures[name].title;
  const groups = Object.entries(DATA.words.groups).map(([group, held]) => [
    group,
    held.filter((name) => name in measures).map((name) => [name, titled(name)]),
  ]);
  const curves = overN.map((name) => [`curve ${name}`, `${titled(name)} at N`]);
  return [
    ['verdicts', 'Verdicts'],
    ...(roles.length ? [['roles', 'Roles']] : []),
    ...('effect' in measures ? [['effect', titled('effect')]] : []),
    ...[...groups, ['Over N', curves]].filter(([, held]) => held.length),
  ];
}

function markView(title, marksOf) {
  return {
    title,
    value: (number) => marksOf[number].join('; '),
    stripes: (number) => (marksOf[number].length ? marksOf[number] : ['incomplete']).map(stripeOf),
    text: (number) => marksOf[number].join(', ') || 'not measured',
    // On the page the chips tell the letters; a picture goes without them.
    legend: el(
      'ul',
      { class: 'verdict-legend' },
      unique(marksOf.flat()).map((name) => el('li', null, markBadge(name))),
    ),
  };
}

function measureView(heads, what, curves, n) {
  const isCurve = what.startsWith('curve ');
  const name = isCurve ? what.slice(6) : what;
  const measure = DATA.words.measures[name];
  const values = isCurve
    ? (curves.measures[name] || [])[curves.ns.indexOf(n)] || []
    : heads.measures[name];
  const scaleOf = colouring(values, measure);
  const title = isCurve ? `${measure.title} at N = ${n}` : measure.title;
  const errors = (name === 'effect' ? heads.effect_error : !isCurve && heads.errors[name]) || [];
  const error = (number) => (missing(errors[number]) ? '' : ` ± ${sig(errors[number], 2)}`);
  return {
    title,
    value: (number) => values[number],
    colour: (number) => scaleOf.colour(values[number]),
    text: (number) =>
      `${title}: ${missing(values[number]) ? 'not measured' : sig(values[number]) + error(number)}`,
    legend: el(
      'div',
      null,
      colourLegend(scaleOf),
      values.some(missing) ? el('p', { class: 'where' }, 'Grey: not measured.') : null,
    ),
  };
}
