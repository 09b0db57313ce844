const day = 24 * 60 * 60 * 1000;
const between = (a, b) => Math.round((Date.parse(b) - Date.parse(a)) / day);
//=
[between('2024-02-28', '2024-03-01'), between('2025-02-28', '2025-03-01'), between('2025-12-31', '2025-01-01')]
