// Counts the guests, compares each vendor's price with the budget, and writes to the vendors that are over it.

const [rsvps, contracts, budget] = await Promise.all([
  tools.rsvps.list({}),
  tools.contracts.list({}),
  tools.budget.read({}),
]);

const headcount = rsvps.filter((rsvp) => rsvp.coming).reduce((sum, rsvp) => sum + rsvp.party, 0);
console.log(`${headcount} guests are coming`);

const vendors = contracts.map(({ vendor, mail, per_guest, fixed }) => {
  const cost = fixed + per_guest * headcount;
  return { vendor, mail, cost, over: Math.max(0, cost - budget[vendor]) };
});
const dear = vendors.filter(({ over }) => over > 0);

// A mail may have to wait for a person; one that is not sent is part of the plan, not an error.
const subject = `Our wedding: ${headcount} guests`;
const mails = await Promise.allSettled(
  dear.map(({ vendor, mail, cost, over }) => {
    const text = `We will be ${headcount}. At ${cost} euros, ${vendor} is ${over} over what we planned. Can you help?`;
    return tools.mail.send({ to: mail, subject, text });
  }),
);

({
  headcount,
  total: vendors.reduce((sum, { cost }) => sum + cost, 0),
  vendors: vendors.map(({ vendor, cost, over }) => ({ vendor, cost, over })),
  sent: dear.filter((_, i) => mails[i].status === "fulfilled").map(({ mail }) => mail),
  not_sent: dear.flatMap(({ mail }, i) =>
    mails[i].status === "rejected" ? [{ to: mail, why: mails[i].reason.message }] : [],
  ),
});
