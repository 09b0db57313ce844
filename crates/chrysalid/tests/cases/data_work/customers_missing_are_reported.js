const ids = [1, 99, 3, 0];
const found = [], missing = [];
for (const id of ids) {
  try {
    const { name, city } = await tools.get_customer({ id });
    found.push(`${name} (${city})`);
  } catch (error) {
    missing.push({ id, message: error.message });
  }
}
//=
({ found, missing })
