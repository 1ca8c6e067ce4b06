// Colours of a heat map: viridis, and a diverging map for measures with a middle.

const MAPS = {
  viridis: '440154 482475 414487 355f8d 2a788e 21918c 22a884 44bf70 7ad151 bddf26 fde725',
  PuOr: '2d004b 532687 8073ac b1aad1 d8daeb f7f7f6 fee0b6 fcb761 e08214 b25706 7f3b08',
};
const BENT = 30; // the end of bent colours, in parts that are about linear
const NOT_SEEN = '#9aa0a5';

function channels(hex) {
  return [1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16));
}

function mapColour(name, share) {
  const stops = MAPS[name].split(' ').map((each) => channels(`#${each}`));
  const at = Math.max(0, Math.min(1, share)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  const [a, b] = [stops[low], stops[low + 1]];
  const mixed = a.map((each, place) => Math.round(each + (b[place] - each) * (at - low)));
  return `rgb(${mixed.join(',')})`;
}

// The measure's own ends where it has them, else the 2nd and 98th percentile of the values.
function colouring(values, measure) {
  const seen = values.filter((each) => !missing(each)).sort((a, b) => a - b);
  const at = (share) => (seen.length ? seen[Math.round(share * (seen.length - 1))] : 0);
  const { centre } = measure;
  let low = missing(measure.low) ? at(0.02) : measure.low;
  let high = missing(measure.high) ? at(0.98) : measure.high;
  // As far on one side of a middle as on the other, where nothing sets the ends.
  if (!missing(centre) && missing(measure.low) && missing(measure.high)) {
    const reach = Math.max(centre - low, high - centre) || 1;
    [low, high] = [centre - reach, centre + reach];
  }
  if (high <= low) high = low + (Math.abs(low) || 1);
  const log = measure.logarithmic && low > 0;
  const bent = measure.logarithmic && centre === 0; // logarithmic on both sides
  const share = (value) => {
    if (log) return Math.log(value / low) / Math.log(high / low);
    if (bent) return 0.5 + 0.5 * (Math.asinh((BENT * value) / high) / Math.asinh(BENT));
    if (missing(centre)) return (value - low) / (high - low);
    return value < centre
      ? 0.5 * ((value - low) / (centre - low))
      : 0.5 + 0.5 * ((value - centre) / (high - centre));
  };
  const map = missing(centre) ? 'viridis' : 'PuOr';
  const middle = log ? Math.sqrt(low * high) : (low + high) / 2;
  const below = seen.some((each) => each < low * (1 - 1e-6) - 1e-9);
  const above = seen.some((each) => each > high * (1 + 1e-6) + 1e-9);
  return {
    map,
    colour: (value) => (missing(value) ? NOT_SEEN : mapColour(map, share(value))),
    ends: [
      (below ? '≤ ' : '') + sig(low, 3),
      sig(missing(centre) ? middle : centre, 3),
      (above ? '≥ ' : '') + sig(high, 3),
    ],
    said: [
      measure.unit,
      log ? 'logarithmic' : '',
      bent ? 'colours logarithmic on both sides of 0' : '',
    ]
      .filter(Boolean)
      .join('; '),
  };
}

function colourLegend({ map, ends, said }) {
  const [width, steps] = [220, 44];
  const step = width / steps;
  const parts = Array.from({ length: steps }, (_, place) =>
    svg('rect', {
      x: place * step,
      width: step + 0.5,
      height: 12,
      fill: mapColour(map, (place + 0.5) / steps),
    }),
  );
  const picture = { viewBox: `0 0 ${width} 12`, width, height: 12, role: 'img' };
  return el(
    'div',
    { class: 'colour-legend' },
    svg('svg', { ...picture, 'aria-label': 'Colour scale' }, parts),
    el(
      'div',
      { class: 'colour-ends' },
      ends.map((each) => el('span', null, each)),
    ),
    el('p', null, prose(said)),
  );
}
