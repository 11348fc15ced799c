// proof: the words that its kernels share.
//
// The forest is contracted by Borůvka's rounds on its own edges alone (King, "A simpler minimum
// spanning tree verification algorithm", Algorithmica 18, 1997). What comes of it is a tree: its
// leaves are the vertices, the nodes of a level are the components that a round leaves, and every
// node knows the forest edge by which it left. The greatest edge on the forest path between two
// vertices is the greatest on their two ways up to where these meet.
//
// Edges are compared by one word: the first half is the order-preserving key of the weight, or, of
// 64-bit weights, the rank of the forest edge among all forest edges, from 1 on; the second half is
// the slot.
#ifndef CLMST_ALGORITHMS_PROOF_STATE
#define CLMST_ALGORITHMS_PROOF_STATE

#include "device/atomics.cl"
#include "device/work_group.cl"

// The parent of a node that has none: its tree is one node.
#define NO_PARENT 0xffffffffu
// While nodes of a tile are counted: one that gets a node of the next level for itself.
#define NEW_PARENT 0xfffffffeu
#define NO_FAULT 0xffffffffu

// state[]: whether parents are still to be found, the first claimed edge that is none, the first
// slot whose edge proves the forest wrong; then two words a level: how many nodes it has, and how
// many of them have no edge.
#define STATE_PENDING 0
#define STATE_CLAIM 1
#define STATE_SLOT 2
#define LEVEL_NODES 0
#define LEVEL_TOPS 1
#define LEVEL_WORDS 2

static inline ulong order_word(uint first, uint slot) {
  return (ulong)first << 32 | slot;
}

#endif
