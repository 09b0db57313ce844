const emails = ['Ana@Example.com', 'bo@example.com', 'ana@example.com ', 'BO@EXAMPLE.COM', 'cy@example.com'];
const seen = new Set();
const unique = emails.filter(email => {
  const key = email.trim().toLowerCase();
  if (seen.has(key)) return false;
  seen.add(key);
  return true;
});
//=
{ unique, removed: emails.length - unique.length, seen }
