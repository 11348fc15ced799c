// proof: the method, and the state that its kernels share.
//
// To check that a forest is the minimum spanning forest, it is contracted in rounds of Borůvka's
// algorithm on its own edges alone (King, "A simpler minimum spanning tree verification algorithm",
// Algorithmica 18, 1997). The result is a tree. Its leaves are the vertices, and the nodes of a
// level are the components after a round. Every node has the forest edge by which it joined its
// parent. So the greatest edge on the forest path between two vertices is the greatest edge on
// their two paths up to the node where these paths meet:
//
//     forest  u -3- v -8- w -2- x        level 1: nodes A = {u, v}, B = {w, x}; level 2: node C
//     orders  u: 3  v: 3  w: 2  x: 2     A: 8  B: 8
//     path u .. x: greatest of u: 3, A: 8, x: 2, B: 8, that is 8
//
// Forest edges are compared by order words of 64 bits. The upper half of an order word is the
// order-preserving key of the weight. For 64-bit weights it is the rank of the edge among all
// forest edges, from 1 on. The lower half is the edge's slot (CSR entry).
#include "device/atomics.cl"
#include "device/work_group.cl"

// The parent entry of a node without a parent, which is the top of its tree.
#define NO_PARENT 0xffffffffu
// The parent entry of a node whose parent is a new node of the next level that does not have a
// number yet. The nodes of a level are the components after a round of contraction. The new nodes
// get numbers after all of them in a tile (range of nodes) have been counted.
#define NEW_PARENT 0xfffffffeu
#define NO_FAULT 0xffffffffu

// Indices of the words of state[]. STATE_PENDING: 1 if parents of nodes are still unknown.
// STATE_CLAIM: the index of the first wrong element of the claim, which is the list of slots (CSR
// entries) that is said to be the forest. STATE_SLOT: the first slot whose edge proves the forest
// wrong. After these come two words for each level: the number of its nodes, and the number of its
// nodes without an edge. The nodes of a level are the components after a round of contraction.
#define STATE_PENDING 0
#define STATE_CLAIM 1
#define STATE_SLOT 2
#define LEVEL_NODES 0
#define LEVEL_TOPS 1
#define LEVEL_WORDS 2

static inline ulong order_word(uint first, uint slot) {
  return (ulong)first << 32 | slot;
}
