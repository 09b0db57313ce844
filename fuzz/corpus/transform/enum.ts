enum E { A, B = "b",
 C = 1 << 3,
}
E.A