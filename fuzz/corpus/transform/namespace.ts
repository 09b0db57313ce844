namespace A { export type B = 1 }
namespace C { export const d = 1 }