const users = [{ id: 1, name: 'Ana' }, { id: 2, name: 'Bo' }, { id: 3, name: 'Cy' }];
const logins = [{ userId: 2, at: 100 }, { userId: 1, at: 150 }, { userId: 2, at: 170 }, { userId: 9, at: 180 }];

const byId = new Map(users.map(u => [u.id, u]));
const joined = logins
  .filter(l => byId.has(l.userId))
  .map(({ userId, ...rest }) => ({ ...byId.get(userId), ...rest }));
return joined;
