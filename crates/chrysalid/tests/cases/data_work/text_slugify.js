const slugify = s => s
  .normalize('NFKD')
  .replace(/[\u0300-\u036f]/g, '')
  .toLowerCase()
  .replace(/&/g, ' and ')
  .replace(/[^a-z0-9]+/g, '-')
  .replace(/^-+|-+$/g, '');
//=
['Crème Brûlée & Café', '  Hello,   World!  ', 'Ünïcödé ①②', '---', 'Straße 9'].map(slugify)
