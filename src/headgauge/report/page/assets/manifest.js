// How the run came about: readable first, and the whole file as it is.

function manifestPart({ manifest, file = 'manifest.json' }) {
  const plain = Object.entries(manifest).filter(([, value]) => !isNested(value));
  const nested = Object.entries(manifest).filter(([, value]) => isNested(value));
  const whole = el(
    'div',
    null,
    keyValues(Object.fromEntries(plain)),
    nested.map(([name, value]) =>
      el(
        'details',
        { class: 'manifest-part', open: ['model', 'data'].includes(name) },
        el('summary', null, spaced(name)),
        keyValues(value),
      ),
    ),
    el(
      'details',
      { class: 'manifest-part raw' },
      el('summary', null, `${file}, as it is`),
      el('pre', { tabindex: '0' }, JSON.stringify(manifest, null, 2)),
    ),
  );
  return roving(whole, 'summary');
}

function isNested(value) {
  return (
    value !== null &&
    typeof value === 'object' &&
    Object.keys(value).length > 0 &&
    !(Array.isArray(value) && value.every((each) => each === null || typeof each !== 'object'))
  );
}

function spaced(name) {
  return name.replaceAll('_', ' ');
}

function keyValues(value) {
  return el(
    'dl',
    { class: 'facts' },
    Object.entries(value).map(([name, each]) => [
      el('dt', null, spaced(name)),
      el('dd', null, isNested(each) ? keyValues(each) : factText(each)),
    ]),
  );
}

function factText(value) {
  if (value === null) return DASH;
  if (Array.isArray(value)) return value.length ? value.map(String).join(', ') : 'none';
  if (typeof value === 'object') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value);
}
