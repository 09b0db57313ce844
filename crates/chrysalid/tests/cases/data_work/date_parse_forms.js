const inputs = ['2025-03-04', '2025-03-04T05:06:07Z', '2025-03-04T05:06:07.089+02:00', '2025-03', '2025', 'nonsense',
  '2025-02-30T00:00:00Z', '2025-13-01', 'Tue, 04 Mar 2025 05:06:07 GMT'];
//=
inputs.map(s => {
  const t = new Date(s);
  return Number.isNaN(t.getTime()) ? `${s}: invalid` : `${s}: ${t.toISOString()}`;
})
