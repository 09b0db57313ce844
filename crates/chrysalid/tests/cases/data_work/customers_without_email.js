const skipped = [];
let sent = 0;
for (const id of [8, 9, 10]) {
  const customer = await tools.get_customer({ id });
  try {
    const { count } = await tools.send_mail({ to: customer.email, subject: 'Hi', body: '…' });
    sent = count;
  } catch (e) {
    skipped.push(`${customer.name}: ${e.message}`);
    console.error(e.message);
  }
}
//=
({ sent, skipped })
