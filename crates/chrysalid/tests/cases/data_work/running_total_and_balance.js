const tx = [100, -30, 45.25, -200, 500];
let balance = 50;
const statement = tx.map((amount, i) => ({ n: i + 1, amount, balance: (balance += amount), overdrawn: balance < 0 }));
const firstNegative = statement.findIndex(t => t.overdrawn);
return { statement, firstNegative, lowest: Math.min(...statement.map(s => s.balance)) };
