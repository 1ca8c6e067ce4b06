// One tab stop for many controls: arrow keys go from one to the next, Home and End to the ends.

const ROVING_STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

// What of `holder` matches `what` shares one stop, whatever is put into it later.
function roving(holder, what) {
  let current = null;
  const there = () =>
    [...holder.querySelectorAll(what)].filter((each) => !each.disabled && each.checkVisibility());
  function settle() {
    const all = [...holder.querySelectorAll(what)];
    const usable = there();
    if (!usable.includes(current)) [current] = usable.length ? usable : all;
    for (const each of all) {
      const stop = each === current ? 0 : -1;
      if (each.tabIndex !== stop) each.tabIndex = stop;
    }
  }
  holder.addEventListener('focusin', ({ target }) => {
    if (!target.matches(what)) return;
    current = target;
    settle();
  });
  holder.addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (!target.matches(what) || event.ctrlKey || event.metaKey || event.altKey) return;
    const all = there();
    const place = { Home: 0, End: all.length - 1 }[key] ?? all.indexOf(target) + ROVING_STEPS[key];
    if (!all[place]) return;
    event.preventDefault();
    all[place].focus();
  });
  const changes = ['disabled', 'hidden', 'open'];
  new MutationObserver(settle).observe(holder, {
    childList: true,
    subtree: true,
    attributeFilter: changes,
  });
  settle();
  return holder;
}
