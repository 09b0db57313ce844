// expect: ["Draft","Paid","text late",3,true,"All"]
// reason: Node 20 does not run TypeScript
enum Status { Draft, Sent = 5, Paid, Late = 'late' }
enum Flags { None = 0, Read = 1 << 0, Write = 1 << 1, All = Read | Write }

const label = (s: Status): string => (typeof s === 'number' ? Status[s] : `text ${s}`);
const has = (value: Flags, flag: Flags): boolean => (value & flag) === flag;
//=
[label(Status.Draft), label(Status.Paid), label(Status.Late), Flags.All, has(Flags.All, Flags.Write), Flags[3]]
