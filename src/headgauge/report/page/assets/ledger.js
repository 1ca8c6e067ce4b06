// The claims ledger: every statement, its verdict, and on request why and what holds instead.

function claimsSection(claims) {
  const list = el('div', { class: 'claims' });
  const words = countWords(claims.map((claim) => claim.verdict));
  const pick = select(
    'Verdict',
    [['', `all (${claims.length})`], ...words.map(([word, count]) => [word, `${word} (${count})`])],
    '',
    show,
  );
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
  return section(
    'claims',
    'Claims ledger',
    el(
      'p',
      null,
      'Statements of two papers with a verdict each; a row opens to say why, and what holds instead.',
    ),
    el('div', { class: 'controls' }, pick.whole, openAll),
    list,
  );
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
        claim.statement,
        el('span', { class: 'where' }, `${claim.where}; seen in ${claim.seen_in}`),
      ),
      badge(claim.verdict),
    ),
    el(
      'dl',
      null,
      el('dt', null, 'Why'),
      el('dd', null, claim.because || DASH),
      el('dt', null, 'What holds'),
      el('dd', null, claim.corrected || DASH),
    ),
  );
}
