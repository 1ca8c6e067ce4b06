// The claims ledger: every statement, its verdict, and on request why and what holds instead.

function ledgerPart({ claims }) {
  const list = el('div', { class: 'claims' });
  const options = [['', `all (${claims.length})`]];
  const all = claims.map((claim) => claim.verdict);
  const counted = unique(all).map((word) => [word, all.filter((each) => each === word).length]);
  sortedWords(counted).forEach(([word, count]) => options.push([word, `${word} (${count})`]));
  const pick = select('Verdict', options, '', show);
  pick.box.id = 'claim-filter';
  const openAll = el(
    'button',
    {
      type: 'button',
      on: {
        click: () => {
          const rows = [...list.querySelectorAll('details')];
          const open = rows.some((each) => !each.open);
          rows.forEach((each) => {
            each.open = open;
          });
        },
      },
    },
    'Open or close all',
  );
  function show(word) {
    list.replaceChildren(
      ...claims.filter((claim) => !word || claim.verdict === word).map(claimRow),
    );
  }
  show('');
  roving(list, 'summary, a');
  const saved = exportTools({ what: 'the ledger', name: () => 'claims', rows: () => claims });
  return el('div', null, el('div', { class: 'controls' }, pick.whole, openAll), list, saved);
}

function claimRow(claim) {
  return el(
    'details',
    { class: 'claim', 'data-verdict': claim.verdict },
    el(
      'summary',
      null,
      el('span', { class: 'claim-id' }, claim.id),
      el(
        'span',
        { class: 'claim-text' },
        formulas(claim.statement),
        el('span', { class: 'where' }, formulas(claim.where)),
      ),
      badge(claim.verdict),
    ),
    el(
      'dl',
      null,
      el('dt', null, 'Seen in'),
      el('dd', null, prose(claim.seen_in)),
      el('dt', null, 'Why'),
      el('dd', null, prose(claim.because || DASH)),
      el('dt', null, 'What holds'),
      el('dd', null, prose(claim.corrected || DASH)),
    ),
  );
}
