// expect: ["Dmitri Orlov","no customer with id 44"]
// reason: Node 20 does not run TypeScript
type Ok<T> = { ok: true; value: T };
type Err<E> = { ok: false; error: E };
type Result<T, E = Error> = Ok<T> | Err<E>;

const attempt = async <T,>(work: () => Promise<T>): Promise<Result<T, string>> => {
  try {
    return { ok: true, value: await work() };
  } catch (e) {
    return { ok: false, error: e instanceof Error ? e.message : String(e) };
  }
};
const isOk = <T, E>(r: Result<T, E>): r is Ok<T> => r.ok;

const results: Result<{ name: string }, string>[] = await Promise.all(
  [4, 44].map(id => attempt<{ name: string }>(() => tools.get_customer({ id }) as Promise<{ name: string }>)),
);
//=
results.map(r => (isOk(r) ? r.value.name : (r as Err<string>).error))
