const bytes = new TextEncoder().encode('grüße €5 👍');
const base64 = btoa(String.fromCharCode(...bytes));
const back = new TextDecoder().decode(Uint8Array.from(atob(base64), c => c.charCodeAt(0)));
//=
{ bytes, base64, back, size: bytes.byteLength }
