// 1,000 appends to one string a round.
let text = "";
for (let i = 0; i < ROUNDS * 1_000; i++) text += "item ";
text.length === ROUNDS * 5_000 && text.endsWith("item ") ? "as it should be" : text.length;
