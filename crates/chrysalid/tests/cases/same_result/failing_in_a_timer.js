// failure: Error: in a timer
await tools.gate({ q: 1 }); setTimeout(() => { throw new Error('in a timer'); }, 100); await tools.gate({ q: 2 }); 'value';
