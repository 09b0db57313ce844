// value: late,TimeoutError,TimeoutError,once,once,why,why true
const seen = []; const slow = AbortSignal.timeout(90000); const both = AbortSignal.any([slow, new AbortController().signal]);
slow.addEventListener('abort', () => seen.push('late', slow.reason.name)); both.onabort = () => seen.push(both.reason.name);
await tools.gate({ q: 1 });
await new Promise((resolve) => setTimeout(resolve, 100000));
const bus = new EventTarget(); bus.addEventListener('go', (event) => seen.push(event.type === 'go' && event.detail), { once: true });
bus.addEventListener('go', (event) => seen.push(event.detail)); const event = new CustomEvent('go', { detail: 'once' });
await tools.gate({ q: 2 });
bus.dispatchEvent(event); const controller = new AbortController(); controller.signal.addEventListener('abort', () => seen.push('why'));
await tools.gate({ q: 3 });
controller.abort('why'); seen.join() + ',' + controller.signal.reason + ' ' + slow.aborted;
