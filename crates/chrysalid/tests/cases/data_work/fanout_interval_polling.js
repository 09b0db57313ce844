let polls = 0;
const status = await new Promise(resolve => {
  const timer = setInterval(async () => {
    polls++;
    const result = await tools.flaky({ key: 'job' }).catch(() => null);
    if (result) {
      clearInterval(timer);
      resolve(result);
    }
  }, 100);
});
//=
({ polls, status })
