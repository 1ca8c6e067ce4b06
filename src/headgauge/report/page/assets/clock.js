// One time for everything that moves: a slider, a button that plays it, and all that follow.

const PLAYED_IN = 14; // seconds from the first time to the last

const TIME = {
  label: 'Time',
  between: true, // stored times, too
  first: 1 / 3, // of the way the schemes have parted; at the start all look the same
  told: (time, last) => `t = ${time.toFixed(last < 100 ? 2 : 1)}`,
};

// The slider goes over the stored times by their place, however they are spaced.
function createClock(times, { label, between, first, told: words } = TIME) {
  const last = times.length - 1;
  const clock = { time: times[0], position: 0, shown: null, followers: [], frame: null };
  const slider = el('input', {
    type: 'range',
    id: 'time',
    min: 0,
    max: last,
    step: between ? 0.25 : 1,
    on: {
      input: () => {
        pause();
        go(Number(slider.value));
      },
    },
  });
  const told = el('output', { for: 'time', id: 'time-told' });
  const button = el('button', {
    type: 'button',
    id: 'play',
    on: { click: () => (clock.frame === null ? play() : pause()) },
  });

  function go(position) {
    clock.position = Math.max(0, Math.min(last, position));
    const place = between ? clock.position : Math.round(clock.position);
    if (!between && place === clock.shown) return; // nothing moves until the next one
    clock.shown = place;
    const before = Math.min(last - 1, Math.floor(place));
    const share = place - before;
    clock.time = times[before] + share * (times[before + 1] - times[before]);
    slider.value = place;
    const text = words(clock.time, times[last]);
    slider.setAttribute('aria-valuetext', text);
    told.textContent = text;
    clock.followers.forEach((heard) => heard(clock.time, place));
  }
  function play() {
    if (clock.position >= last) go(0);
    let then = null;
    const onwards = (now) => {
      // A page that was out of sight goes on where it was.
      const passed = then === null ? 0 : Math.min(0.1, (now - then) / 1000);
      then = now;
      go(clock.position + (passed * last) / PLAYED_IN);
      if (clock.position >= last) pause();
      else clock.frame = requestAnimationFrame(onwards);
    };
    clock.frame = requestAnimationFrame(onwards);
    name();
  }
  function pause() {
    if (clock.frame !== null) cancelAnimationFrame(clock.frame);
    clock.frame = null;
    name();
  }
  function name() {
    button.textContent = clock.frame === null ? '▶ Play' : '❚❚ Pause';
  }

  name();
  const bar = el(
    'div',
    { class: 'clock', role: 'group', 'aria-label': `${label}, for all that follows` },
    button,
    el('label', { for: 'time' }, label),
    slider,
    told,
  );
  return {
    bar,
    start: () => go(Math.round(last * first)),
    go(place) {
      pause();
      go(place);
    },
    again() {
      clock.shown = null;
      go(clock.position);
    },
    follow: (heard) => clock.followers.push(heard),
  };
}

// Where `time` lies among sorted times: the place before it and the share of the way to the next.
function placeOf(times, time) {
  let [low, high] = [0, times.length - 1];
  if (high < 1 || time <= times[0]) return [0, 0];
  if (time >= times[high]) return [high - 1, 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle;
  }
  return [low, (time - times[low]) / (times[high] - times[low])];
}

// A list over sorted times, straight between them; null outside. Words stand at the nearer time.
function valueAt(times, values, time) {
  const slack = 1e-4 * Math.abs(time); // times are told to five digits
  if (!times.length || time < times[0] - slack || time > times[times.length - 1] + slack)
    return null;
  const [before, share] = placeOf(times, time);
  const [a, b] = [values[before], values[Math.min(values.length - 1, before + 1)]];
  return typeof a === 'number' && typeof b === 'number' ? a + share * (b - a) : share > 0.5 ? b : a;
}

// What the lines of figures say at the clock's time: a row for each line.
// columns: [{figure, axis of its panel, fact of its lines or '', and what a table's column has}]
function createReadout({ columns, label, lead }, figures, clock) {
  const made = table({ label, look: 'dense one-line', columns: [lead, ...columns], rows: [] });
  const caption = el('p', { class: 'where' });
  const of = (name) => figures.find(({ description }) => description.name === name);
  clock.follow((time) => {
    const lines = new Map(); // by name: its cells
    columns.forEach(({ figure, axis, fact }, place) => {
      const panel = of(figure).made.panels().find(({ y }) => y.label === axis);
      for (const { name, x, y, facts = {} } of (panel && panel.series) || []) {
        if (!(name in DATA.words.schemes)) continue; // a guide for the eye
        if (!lines.has(name)) lines.set(name, [name, ...columns.map(() => null)]);
        lines.get(name)[place + 1] = valueAt(x, fact ? facts[fact] || [] : y, time);
      }
    });
    made.update([...lines.values()]);
    const used = figures.filter(({ description }) =>
      columns.some(({ figure }) => figure === description.name),
    );
    caption.textContent = used.map((each) => each.made.words()).join('. ');
  });
  return el('div', { id: 'readout' }, made.whole, caption);
}

// Spheres, figures and a readout that follow one slider.
function timedPart({ times, spheres, figures, readout }) {
  // Without two times there is nothing to slide through; what would follow stands still.
  const clock = times.length > 1 ? createClock(times) : STILL;
  const balls = spheres ? createSpheres(spheres, clock) : null;
  const { whole, made } = figuresPart({ figures }, clock);
  const drawn = figures.map((description, place) => ({ description, made: made[place] }));
  const told = readout && clock !== STILL ? createReadout(readout, drawn, clock) : null;
  clock.start();
  return el('div', { class: 'timed' }, clock.bar, balls, told, whole);
}

const STILL = { bar: null, start() {}, go() {}, again() {}, follow() {} };
