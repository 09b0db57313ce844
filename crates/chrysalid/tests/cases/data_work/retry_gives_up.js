const errors = [];
let result = null;
for (let attempt = 1; attempt <= 2; attempt++) {
  try {
    result = await tools.flaky({ key: 'gamma' });
    break;
  } catch (e) {
    errors.push(e.message);
  }
}
//=
{ result, errors }
