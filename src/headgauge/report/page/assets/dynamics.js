// Attention dynamics on the sphere: spheres, lines and a readout that follow one slider.

const MOST_MORE = 60; // steps of the slider after the spheres' last time

// The spheres' own times, and where other lines go on after them some of theirs.
function clockTimes({ sphere, curves, swarms }) {
  const sorted = (times) => unique(times).sort((a, b) => a - b);
  const first = sorted((sphere || []).flatMap(({ times }) => times));
  const end = first.length ? first[first.length - 1] : -Infinity;
  const lines = [...(curves || []), ...(swarms || [])].flatMap(expand);
  const more = sorted(lines.map((row) => row.time).filter((time) => time > end * 1.0001));
  const every = Math.max(1, Math.ceil(more.length / MOST_MORE));
  const kept = more.filter((_, place) => (more.length - 1 - place) % every === 0);
  return [...first, ...kept];
}

// Without two times there is nothing to slide through; what would follow stands still.
const STILL = { bar: null, start() {}, again() {}, follow() {} };

function dynamicsSection(data) {
  if (!Object.keys(data).length) return null;
  const times = clockTimes(data);
  const clock = times.length > 1 ? createClock(times) : STILL;
  const spheres = data.sphere ? createSpheres(data.sphere, clock) : null;
  const gamma = data.curves ? gammaFigure(data.curves, clock) : null;
  const swarm = data.swarms ? swarmFigure(data.swarms, clock) : null;
  const readout = clock !== STILL && (gamma || swarm) ? createReadout(gamma, swarm, clock) : null;
  clock.start();
  const lines = [gamma, swarm].filter(Boolean).map((each) => each.whole);
  return section(
    'dynamics',
    'Attention dynamics on the sphere',
    el(
      'p',
      null,
      'Tokens are particles that attention draws to one another; where a model normalises sets ',
      'how fast each of them turns. ',
      data.sphere ? 'Every scheme starts from the same places; drag a sphere to turn all.' : '',
    ),
    el(
      'div',
      { class: 'timed' },
      clock.bar,
      spheres,
      readout,
      lines.length ? el('div', { class: 'pair' }, lines) : null,
    ),
    data.phase ? phaseFigure(data.phase) : null,
    theoryPart(data),
  );
}
