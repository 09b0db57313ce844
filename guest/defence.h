/* Defences by name. In the guest that is shipped all of them stand. A second build, for tests alone, can be told to do
 * without single ones, which shows what attack each of them stops.
 */
#ifndef CHRYSALID_DEFENCE_H
#define CHRYSALID_DEFENCE_H

#ifdef CHRYSALID_WEAKENED
__attribute__((visibility("default"), used)) volatile uint32_t weakened;
#define STANDS(defence) (!(weakened & (1u << (defence))))
#else
#define STANDS(defence) true
#endif

#endif
