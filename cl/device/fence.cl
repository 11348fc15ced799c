// A fence across the device.
#ifndef CLMST_DEVICE_FENCE
#define CLMST_DEVICE_FENCE

#include "device/lanes.cl"

// Make what this work-item wrote visible to the device, and what others wrote visible to it.
static inline void device_fence(void) {
#if LANES_IMPL == LANES_PTX
  __asm__ volatile("fence.acq_rel.gpu;" : : : "memory");
#else
  mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
}

#endif
