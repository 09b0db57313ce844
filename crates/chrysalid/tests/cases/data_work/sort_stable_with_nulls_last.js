const rows = [{ id: 1, p: 3 }, { id: 2, p: null }, { id: 3, p: 1 }, { id: 4 }, { id: 5, p: 3 }, { id: 6, p: 0 }];
rows.sort((a, b) => (a.p == null) - (b.p == null) || a.p - b.p);
//=
rows.map(r => r.id)
