```js
await tools.a({})
```