// Colours of the heat map: viridis, and a diverging map for measures with a middle.

const MAPS = {
  viridis: [
    '#440154',
    '#482475',
    '#414487',
    '#355f8d',
    '#2a788e',
    '#21918c',
    '#22a884',
    '#44bf70',
    '#7ad151',
    '#bddf26',
    '#fde725',
  ],
  PuOr: [
    '#2d004b',
    '#532687',
    '#8073ac',
    '#b1aad1',
    '#d8daeb',
    '#f7f7f6',
    '#fee0b6',
    '#fcb761',
    '#e08214',
    '#b25706',
    '#7f3b08',
  ],
};

function channels(hex) {
  return [1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16));
}

function mapColour(name, share) {
  const stops = MAPS[name];
  const at = Math.max(0, Math.min(1, share)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  const [a, b] = [channels(stops[low]), channels(stops[low + 1])];
  const mixed = a.map((each, place) => Math.round(each + (b[place] - each) * (at - low)));
  return `rgb(${mixed.join(',')})`;
}

// The measure's own ends where it has them, else the 2nd and 98th percentile of the heads.
function colouring(values, measure) {
  const seen = values.filter((each) => !missing(each)).sort((a, b) => a - b);
  const at = (share) => (seen.length ? seen[Math.round(share * (seen.length - 1))] : 0);
  const low = missing(measure.low) ? at(0.02) : measure.low;
  let high = missing(measure.high) ? at(0.98) : measure.high;
  if (high <= low) high = low + (Math.abs(low) || 1);
  const log = measure.logarithmic && low > 0;
  const centre = measure.centre;
  const share = (value) => {
    if (log) return Math.log(value / low) / Math.log(high / low);
    if (missing(centre)) return (value - low) / (high - low);
    return value < centre
      ? 0.5 * ((value - low) / (centre - low))
      : 0.5 + 0.5 * ((value - centre) / (high - centre));
  };
  const map = missing(centre) ? 'viridis' : 'PuOr';
  return {
    low,
    high,
    centre,
    log,
    map,
    colour: (value) => mapColour(map, share(value)),
    beyond: [
      seen.some((each) => each < low * (1 - 1e-6) - 1e-9),
      seen.some((each) => each > high * (1 + 1e-6) + 1e-9),
    ],
  };
}

function colourLegend(scaleOf, measure) {
  const width = 220;
  const steps = Array.from({ length: 44 }, (_, place) =>
    svg('rect', {
      x: place * (width / 44),
      y: 0,
      width: width / 44 + 0.5,
      height: 12,
      fill: mapColour(scaleOf.map, (place + 0.5) / 44),
    }),
  );
  const middle = missing(scaleOf.centre)
    ? scaleOf.log
      ? Math.sqrt(scaleOf.low * scaleOf.high)
      : (scaleOf.low + scaleOf.high) / 2
    : scaleOf.centre;
  const [below, above] = scaleOf.beyond;
  return el(
    'div',
    { class: 'colour-legend' },
    svg(
      'svg',
      { viewBox: `0 0 ${width} 12`, width, height: 12, role: 'img', 'aria-label': 'Colour scale' },
      steps,
    ),
    el(
      'div',
      { class: 'colour-ends' },
      el('span', null, (below ? '≤ ' : '') + sig(scaleOf.low, 3)),
      el('span', null, sig(middle, 3)),
      el('span', null, (above ? '≥ ' : '') + sig(scaleOf.high, 3)),
    ),
    el('p', null, measure.unit, scaleOf.log ? '; logarithmic' : ''),
  );
}
