const a = 1
{ a, b: 2 }