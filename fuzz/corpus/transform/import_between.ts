a;
import { a } from "b"