const value = {
  when: new Date(0), skip: undefined, fn() {}, nan: NaN, big: 2 ** 53, nested: { secret: 'x', keep: [1, undefined, () => 1] },
  text: 'line\nbreak "quoted"',
};
const masked = JSON.stringify(value, (key, v) => (key === 'secret' ? '***' : v), 2);
console.log(masked);
//=
[JSON.stringify(value), JSON.stringify(value, ['nested', 'keep', 'big']), masked.split('\n').length]
