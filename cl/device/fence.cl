// A fence across the device.
#ifndef CLMST_DEVICE_FENCE
#define CLMST_DEVICE_FENCE

#include "device/lanes.cl"

// Make this work-item's earlier writes visible to the device, and other work-items' writes visible
// to this work-item.
//
// Scope    one work-item; orders its own accesses to global memory.
static inline void device_fence(void) {
#if LANES_IMPL == LANES_PTX
  __asm__ volatile("fence.acq_rel.gpu;" : : : "memory");
#else
  mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
}

#endif
