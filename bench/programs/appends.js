// 200,000 appends to one string.
let text = "";
for (let i = 0; i < 200_000; i++) text += "item ";
`${text.length} ${text.charCodeAt(999_995)} ${text.lastIndexOf("item")}`;
