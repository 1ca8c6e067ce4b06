// Points on spheres over time, seen from one side; all spheres turn together.
//
// groups: [{at: setting, name, title, look, times, x, y, z: by time a list over the points, in
//           thousandths}], told: by setting what they stand on

const UNIT = 1000;
const STEP_OF_TURN = 0.12; // radians, a press of a key
const GREAT_CIRCLES = [
  (a) => [Math.cos(a), Math.sin(a), 0],
  (a) => [Math.cos(a), 0, Math.sin(a)],
  (a) => [0, Math.cos(a), Math.sin(a)],
];

function createSpheres({ title, groups, told }, clock) {
  const turn = firstTurn(groups);
  const row = el('div', {
    class: 'spheres',
    role: 'group',
    tabindex: '0',
    'aria-label': 'Spheres: drag or use the arrow keys to turn them all',
  });
  const own = el('p', { class: 'where' });
  let spheres = [];
  let time = 0;
  const settings = unique(groups.map(({ at }) => at));
  const options = settings.map((each) => [each, each]);
  const pick = select(title, options, settings[0], () => show());
  pick.whole.hidden = settings.length < 2;

  function show() {
    spheres = groups.filter(({ at }) => at === pick.box.value).map(createSphere);
    row.replaceChildren(...spheres.map((each) => each.whole));
    own.textContent = told[pick.box.value];
    place();
  }
  function place() {
    spheres.forEach((each) => placeSphere(each, time, turn));
  }
  function turnBy(right, down) {
    turn.yaw += right;
    turn.pitch = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, turn.pitch + down));
    place();
  }
  turnable(row, turnBy);
  show();
  clock.follow((now) => {
    time = now;
    place();
  });
  const saved = exportTools({
    what: 'the spheres',
    name: () => `spheres ${title} ${pick.box.value} t ${sig(time, 3)}`,
    picture: () => [row, `Particles at t = ${sig(time, 3)}`, own.textContent],
    rows: () => spheres.flatMap(({ group }) => sphereRows(group)),
  });
  return el('div', null, pick.whole, row, own, saved);
}

// Every particle at every stored time, in units of the radius.
function sphereRows({ title, at, times, x, y, z }) {
  const of = (t, place, particle) => {
    const [a, b, c] = [x, y, z].map((axis) => axis[place][particle] / UNIT);
    return { scheme: title, β: Number(at), t, particle, x: a, y: b, z: c };
  };
  return times.flatMap((t, place) => x[place].map((_, particle) => of(t, place, particle)));
}

function turnable(row, turnBy) {
  let from = null;
  row.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    from = [event.clientX, event.clientY];
    row.setPointerCapture(event.pointerId);
  });
  row.addEventListener('pointermove', (event) => {
    if (!from) return;
    turnBy((event.clientX - from[0]) / 90, (event.clientY - from[1]) / 90);
    from = [event.clientX, event.clientY];
  });
  for (const ended of ['pointerup', 'pointercancel'])
    row.addEventListener(ended, () => {
      from = null;
    });
  row.addEventListener('keydown', (event) => {
    if (!(event.key in STEPS) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const [down, right] = STEPS[event.key];
    turnBy(right * STEP_OF_TURN, down * STEP_OF_TURN);
  });
}

function createSphere(group) {
  const { title, look } = group;
  const sphere = {
    group,
    back: svg('g', { class: 'behind' }),
    front: svg('g'),
    circles: ['behind', 'before'].map((side) => svg('path', { class: `great-circle ${side}` })),
    dots: group.x[0].map(() => svg('circle', { class: 'particle', r: 0.055 })),
  };
  sphere.picture = svg(
    'svg',
    { class: 'sphere', viewBox: '-1.12 -1.12 2.24 2.24', role: 'img' },
    svg('circle', { class: 'ball', r: 1 }),
    sphere.circles[0],
    sphere.back,
    sphere.circles[1],
    sphere.front,
  );
  sphere.picture.dataset.name = group.name;
  sphere.title = title;
  const named = el('p', null, swatch({ look: { ...look, marker: '' } }), title);
  sphere.whole = dress(el('div', { class: 'sphere-whole' }, sphere.picture, named), look);
  return sphere;
}

// So that the place where most particles end is on the reader's side, not straight ahead.
function firstTurn(groups) {
  const [x, y, z] = ['x', 'y', 'z'].map((axis) =>
    groups.flatMap((group) => group[axis][group.times.length - 1]).reduce((a, b) => a + b, 0),
  );
  const pitch = Math.atan2(z, Math.hypot(x, y));
  return { yaw: Math.atan2(-x, -y) + 0.35, pitch: Math.max(0.15, Math.min(0.6, pitch)) };
}

// From the sphere to the screen: [right, down, towards the reader].
function seen([x, y, z], { yaw, pitch }) {
  const right = x * Math.cos(yaw) - y * Math.sin(yaw);
  const away = x * Math.sin(yaw) + y * Math.cos(yaw);
  return [
    right,
    -away * Math.sin(pitch) - z * Math.cos(pitch),
    -away * Math.cos(pitch) + z * Math.sin(pitch),
  ];
}

function placeSphere(sphere, time, turn) {
  const { group, picture } = sphere;
  const [before, share] = placeOf(group.times, time);
  const after = Math.min(group.times.length - 1, before + 1);
  sphere.dots.forEach((dot, number) => {
    // Straight between two times and back to the sphere, whatever unit the places have.
    const along = ['x', 'y', 'z'].map(
      (axis) => (1 - share) * group[axis][before][number] + share * group[axis][after][number],
    );
    const size = Math.hypot(...along) || 1;
    const [right, down, near] = seen(
      along.map((each) => each / size),
      turn,
    );
    fill(dot, { cx: right.toFixed(3), cy: down.toFixed(3) }, []);
    const side = near < 0 ? sphere.back : sphere.front;
    if (dot.parentNode !== side) side.append(dot);
  });
  sphere.circles.forEach((path, side) => path.setAttribute('d', greatCircles(turn, side === 1)));
  picture.dataset.time = sig(time);
  picture.dataset.turn = `${turn.yaw.toFixed(3)} ${turn.pitch.toFixed(3)}`;
  picture.setAttribute('aria-label', `${sphere.title}: particles at t = ${sig(time, 3)}`);
}

// The half of three great circles on the reader's side, or the other half.
function greatCircles(turn, before) {
  const parts = 48;
  let path = '';
  for (const circle of GREAT_CIRCLES) {
    let on = false;
    for (let k = 0; k <= parts; k += 1) {
      const [right, down, near] = seen(circle((2 * Math.PI * k) / parts), turn);
      const mine = near >= 0 === before;
      if (mine) path += `${on ? 'L' : 'M'}${right.toFixed(3)} ${down.toFixed(3)}`;
      on = mine;
    }
  }
  return path;
}
