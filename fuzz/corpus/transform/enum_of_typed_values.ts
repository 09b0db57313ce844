enum E { A = x! << 1, B = (A as any).c,
 C = f<number>(2) as 3, D = (y satisfies
 number), F = <any>z }
E.A