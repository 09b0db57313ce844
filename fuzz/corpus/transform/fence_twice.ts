```js
1
```
text
```js
2
```