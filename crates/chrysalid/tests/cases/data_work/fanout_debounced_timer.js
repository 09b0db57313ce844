const events = [];
function debounce(fn, ms) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => fn(...args), ms);
  };
}
const save = debounce(v => events.push(`saved ${v}`), 50);
const sleep = ms => new Promise(r => setTimeout(r, ms));
save(1); save(2);
await sleep(20);
save(3);
await sleep(80);
save(4);
await sleep(60);
//=
events
