// Memory fences: they make the stores of a work-item visible to all other work-items of the device,
// in the order in which the work-item has made them.
#include "device/lanes.cl"

// Make this work-item's earlier writes visible to all work-items of the device, and the writes of
// other work-items visible to this work-item.
//
// Scope    one work-item; orders only this work-item's accesses to global memory.
static inline void device_fence(void) {
#if LANES_IMPL == LANES_PTX
  __asm__ volatile("fence.acq_rel.gpu;" : : : "memory");
#else
  mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
}

// Add `value` to a word by which work-items signal to one another. The word changes only after this
// work-item's earlier writes have become visible to the device.
//
// Scope    one work-item.
static inline void device_add_release(volatile global uint *word, uint value) {
#if LANES_IMPL == LANES_PTX
  __asm__ volatile("red.release.gpu.global.add.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
#else
  device_fence();
  atomic_add(word, value);
#endif
}

// Load a word by which work-items signal to one another. If another work-item has changed the word
// by device_add_release, everything that it had written before is visible after the load.
//
// Scope    one work-item.
static inline uint device_load_acquire(volatile global uint *word) {
#if LANES_IMPL == LANES_PTX
  uint value;
  __asm__ volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
#else
  const uint value = *word;
  device_fence();
  return value;
#endif
}
