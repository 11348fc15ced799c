// filter-boruvka: links, in the layout of both shapes.
//
// A link is a word that leads from a vertex towards its supervertex:
//
//     bit 31      bit 30      bits 29 .. 0
//     KNOWN       FINAL       NUMBER
//     1           0           the supervertex, one depth further
//     1           1           the component that the phase leaves the vertex in
//     0           0           another vertex of the same depth, on the way to the root
//
// FINISHED is no such word: no edge of the phase leads out of the vertex.
#ifndef CLMST_ALGORITHMS_FILTER_BORUVKA_LINKS
#define CLMST_ALGORITHMS_FILTER_BORUVKA_LINKS

#define LINK_KNOWN 0x80000000u
#define LINK_FINAL 0x40000000u
#define LINK_NUMBER 0x3fffffffu
#define LINK_FINISHED 0xffffffffu

#endif
