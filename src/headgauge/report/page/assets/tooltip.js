// One tooltip for the whole page, which never leaves the window.

const tip = document.getElementById('tooltip');
let shownAt = 0;

function showTip(left, top, ...children) {
  tip.replaceChildren(...children.flat(Infinity).filter(Boolean));
  tip.hidden = false;
  shownAt = window.scrollY;
  const box = tip.getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  let x = left + 14;
  if (x + box.width > width - 6) x = left - box.width - 14;
  if (x < 6) x = Math.max(6, Math.min(left - box.width / 2, width - box.width - 6));
  let y = top + 16;
  if (y + box.height > window.innerHeight - 6) y = Math.max(6, top - box.height - 12);
  tip.style.left = `${x}px`;
  tip.style.top = `${y}px`;
}

function hideTip() {
  tip.hidden = true;
}

// Lines of [label, value], with a swatch in front where a series is meant.
function tipLines(lines) {
  return el(
    'dl',
    null,
    lines.map(([label, value, look]) => [
      el(
        'dt',
        { class: look && look.strong ? 'strong' : null },
        look && look.swatch ? look.swatch : null,
        prose(label),
      ),
      el('dd', { class: look && look.strong ? 'strong' : null }, value),
    ]),
  );
}

// The page going on under it makes it point at nothing; the last pixels of a glide do not.
window.addEventListener(
  'scroll',
  () => {
    if (Math.abs(window.scrollY - shownAt) > 24) hideTip();
  },
  { passive: true },
);
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') hideTip();
});
