function f(a: 1): 1;
function f(a: 2): 2;
function f(a: any) { return a }
f(1)