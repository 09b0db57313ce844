const line = 'id,"Smith, J.",42,"said ""hi""",';
const fields = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(m => m[1]?.replaceAll('""', '"') ?? m[2]);
//=
fields
