// From numbers to pixels and back, and where the ticks stand.

// With `linear` it is so up to about there from zero, and logarithmic beyond, on both sides.
function scale([low, high], [from, to], log, linear) {
  const same = [(value) => value, (value) => value];
  const bent = [(value) => Math.asinh(value / linear), (value) => linear * Math.sinh(value)];
  const [of, back] = log ? [Math.log10, (value) => 10 ** value] : linear ? bent : same;
  const a = of(low);
  const b = of(high);
  const place = (value) => from + ((of(value) - a) / (b - a)) * (to - from);
  place.invert = (pixel) => back(a + ((pixel - from) / (to - from)) * (b - a));
  place.domain = [low, high];
  place.log = log;
  return place;
}

function padded([low, high], log, share = 0.055) {
  if (log) {
    const room = Math.max(Math.log10(high / low), 0.05) * share;
    return low === high ? [low / 1.5, high * 1.5] : [low / 10 ** room, high * 10 ** room];
  }
  const room = (high - low) * share;
  return room === 0
    ? [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2]
    : [low - room, high + room];
}

function linearTicks([low, high], wanted) {
  const rough = (high - low) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step =
    [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough) || 10 * power;
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-12) + step * 1e-9; k += 1) {
    ticks.push(Number((k * step).toPrecision(12)));
  }
  return ticks;
}

function logTicks([low, high], wanted) {
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  const inside = (value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9);
  for (const mantissas of [[1, 2, 5], [1, 3], [1]]) {
    const ticks = [];
    for (let k = first; k <= last; k += 1)
      ticks.push(...mantissas.map((each) => Number(`${each}e${k}`)));
    const kept = ticks.filter(inside);
    if (kept.length <= Math.max(wanted, 2) && kept.length >= 3) return kept;
  }
  const decades = [];
  const every = Math.max(1, Math.ceil((last - first) / Math.max(2, wanted)));
  for (let k = first; k <= last; k += 1) if (k % every === 0) decades.push(10 ** k);
  const kept = decades.filter(inside);
  return kept.length >= 2 ? kept : linearTicks([low, high], wanted).filter((each) => each > 0);
}

// [value, text], as the description has them or as many as there is room for.
function ticksOf(place, given, wanted) {
  const [low, high] = [...place.domain].sort((a, b) => a - b); // an axis may run the other way
  if (given) return given.filter(([value]) => value >= low && value <= high);
  const ticks = place.log ? logTicks([low, high], wanted) : linearTicks([low, high], wanted);
  return ticks.map((each) => [each, tickText(each)]);
}

function tickName(axis, value) {
  const named = (axis.ticks || []).find(([each]) => each === value);
  return named ? named[1] : sig(value);
}

function tickText(value) {
  const size = Math.abs(value);
  const exponent = Math.log10(size);
  if (size && (size < 1e-3 || size >= 1e5) && Math.abs(exponent - Math.round(exponent)) < 1e-9) {
    return (value < 0 ? '−' : '') + tenTo(Math.round(exponent));
  }
  return sig(value, 4);
}
