import d, { a as b, type C } from "./x";
import * as ns from "y";
import type { T } from "t";
export const q = b;
export default async () => ns.v;