const steps = [
  ['load', () => tools.fetch_text({ name: 'metrics.tsv' })],
  ['parse', text => text.split('\n').map(l => l.split('\t'))],
  ['lookup', async rows => (await tools.inventory({ sku: rows[1][0] })).price],
  ['notify', price => tools.send_mail({ to: 'x@example.com', subject: `${price}` })],
];
let value, failed = null;
for (const [name, step] of steps) {
  try {
    value = await step(value);
    console.log(`${name}: ok`);
  } catch (cause) {
    failed = new Error(`step ${name} failed`, { cause });
    console.error(`${name}: ${cause.message}`);
    break;
  } finally {
    console.debug(`left ${name}`);
  }
}
//=
({ failed, cause: failed.cause.message, isToolError: failed.cause.name === 'ToolError' })
