import { run } from 'run';

console.log((await run({ source: 'return 1+1;', hostFunctions: {} })).value);
process.exit(0);
