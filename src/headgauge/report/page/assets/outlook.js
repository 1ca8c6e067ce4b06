// How many heads each verdict names now and, by their trends, at a longer context.

function outlookSection(outlook) {
  const rows = rowsOf(outlook.rows);
  const { target } = outlook;
  const columns = [
    { title: 'Verdict', cell: (row) => verdictBadge(row.verdict) },
    numberOf('Heads now', (row) => String(row.now)),
    numberOf(`At L = ${target}`, (row) => String(row.target)),
    numberOf('90 % interval', (row) => row.interval),
    numberOf('of', (row) => String(row.heads)),
  ];
  if (rows.some((row) => row.unknown > 0))
    columns.push(numberOf('No interval', (row) => String(row.unknown)));
  return section(
    'outlook',
    `Outlook at ${target} tokens`,
    el('p', null, "Each head's trend over the scanned lengths, continued."),
    table(columns, rows, { class: 'dense', label: 'Outlook' }).box,
    el('ul', { class: 'notes' }, outlook.notes.map((line) => el('li', null, line))),
  );
}
