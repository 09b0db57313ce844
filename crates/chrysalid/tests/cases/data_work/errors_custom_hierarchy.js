class AppError extends Error {
  constructor(message, options) { super(message, options); this.name = this.constructor.name; }
}
class ValidationError extends AppError {
  constructor(field, message) { super(`${field}: ${message}`); this.field = field; }
}
const validate = ({ age, email }) => {
  if (!Number.isInteger(age)) throw new ValidationError('age', 'must be an integer');
  if (!email?.includes('@')) throw new ValidationError('email', 'is invalid');
  return 'ok';
};
const attempt = input => {
  try { return validate(input); }
  catch (e) {
    if (!(e instanceof ValidationError)) throw new AppError('unexpected', { cause: e });
    return { field: e.field, text: String(e), isError: e instanceof Error };
  }
};
let wrapped;
try { attempt(null); } catch (e) { wrapped = [e.name, e.message, e.cause instanceof TypeError]; }
//=
[attempt({ age: 3, email: 'a@b' }), attempt({ age: 3.5 }), attempt({ age: 1 }), wrapped]
