// One time for everything that moves: a slider, a button that plays it, and all that follow.

const PLAYED_IN = 14; // seconds from the first time to the last

// The slider goes over the stored times by their place, however they are spaced, and between them.
function createClock(times) {
  const last = times.length - 1;
  const clock = { time: times[0], position: 0, followers: [], frame: null };
  const slider = el('input', {
    type: 'range',
    id: 'time',
    min: 0,
    max: last,
    step: 0.25,
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
    const before = Math.min(last - 1, Math.floor(clock.position));
    const share = clock.position - before;
    clock.time = times[before] + share * (times[before + 1] - times[before]);
    slider.value = clock.position;
    const text = `t = ${clock.time.toFixed(times[last] < 100 ? 2 : 1)}`;
    slider.setAttribute('aria-valuetext', text);
    told.textContent = text;
    clock.followers.forEach((heard) => heard(clock.time));
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
    { class: 'clock', role: 'group', 'aria-label': 'Time, for all that follows' },
    button,
    el('label', { for: 'time' }, 'Time'),
    slider,
    told,
  );
  return {
    bar,
    start() {
      // A third of the way the schemes have parted; at the start all look the same.
      go(Math.round(last / 3));
    },
    again: () => go(clock.position),
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

// A column of rows sorted by time, straight between them; null outside.
function valueAt(rows, name, time) {
  const times = rows.map((row) => row.time);
  const slack = 1e-4 * Math.abs(time); // times are told to five digits
  if (!rows.length || time < times[0] - slack || time > times[times.length - 1] + slack)
    return null;
  const [before, share] = placeOf(times, time);
  const [a, b] = [rows[before][name], rows[Math.min(rows.length - 1, before + 1)][name]];
  if (missing(a) || missing(b)) return share > 0.5 ? b : a;
  return a + share * (b - a);
}
