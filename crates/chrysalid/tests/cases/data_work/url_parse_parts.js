const url = new URL('https://ana:pw@shop.example.com:8443/a/b%20c/?q=green+tea&page=2&tag=x&tag=y#top');
const { protocol, hostname, port, pathname, hash, username } = url;
//=
({ protocol, hostname, port, pathname, hash, username, q: url.searchParams.get('q'), tags: url.searchParams.getAll('tag'), origin: url.origin })
