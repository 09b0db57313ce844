const human = bytes => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const i = bytes ? Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10)) : 0;
  return `${(bytes / 2 ** (10 * i)).toFixed(i ? 1 : 0)} ${units[i]}`;
};
//=
[0, 512, 1024, 1536, 5 * 1024 ** 2, 123456789012].map(human)
