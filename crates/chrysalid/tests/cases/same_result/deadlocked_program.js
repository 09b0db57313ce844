// failure: Deadlock: the program waits for a promise that nothing will settle: awaited at line 2, column 90
await tools.gate({ q: 1 }); console.log('before'); await tools.gate({ q: 2 }); await new Promise(() => {});
