let a: number
(b as any)
[c]
type D = 1
/e/g