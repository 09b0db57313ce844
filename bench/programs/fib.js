// 1.3 million calls of a function.
function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
String(fib(30));
