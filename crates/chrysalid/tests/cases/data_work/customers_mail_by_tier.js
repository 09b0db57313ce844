const ids = Array.from({ length: 12 }, (_, i) => i + 1);
const gold = (await Promise.all(ids.map(id => tools.get_customer({ id })))).filter(c => c.tier === 'gold');
const sent = [];
for (const { name, email } of gold) {
  const receipt = await tools.send_mail({ to: email, subject: 'Thank you', body: `Dear ${name.split(' ')[0]},\nthank you!` });
  sent.push({ email, ...receipt });
}
//=
sent
