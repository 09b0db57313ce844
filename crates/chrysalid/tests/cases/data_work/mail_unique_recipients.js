const wanted = ['a@example.com', 'B@example.com', 'b@example.com', 'not-an-address', 'a@example.com'];
const unique = [...new Set(wanted.map(w => w.toLowerCase()))];
const results = await Promise.allSettled(unique.map(to => tools.send_mail({ to, subject: 'News', body: 'x' })));
const failed = unique.filter((_, i) => results[i].status === 'rejected');
//=
({ sent: results.filter(r => r.status === 'fulfilled').map(r => r.value.id), failed })
