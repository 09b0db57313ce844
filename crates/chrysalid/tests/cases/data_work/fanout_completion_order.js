const finished = [];
await Promise.all([300, 100, 200].map(async ms => {
  const v = await tools.slow({ ms, v: ms / 100 });
  finished.push(v);
  console.log(`done ${v}`);
}));
//=
finished
