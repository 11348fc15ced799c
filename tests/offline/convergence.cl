// What precedes a kernel whose control flow is analysed (convergence.py): OpenCL's functions in terms
// of which LLVM knows whether their values are uniform.
//
// SCOPE_LANES: 0: uniform is what all work-items of a work-group have in common. 1: what all lanes of
// a lane group have in common.
#define OVERLOADED __attribute__((overloadable))
#define CONVERGENT __attribute__((overloadable, convergent))
#if SCOPE_LANES
#define SAME_IN_LANES(value) __builtin_amdgcn_readfirstlane(value)
#else
#define SAME_IN_LANES(value) (value)
#endif

uint call_of_lanes(uint) __attribute__((convergent));  // its result may differ in each lane
uint any_number(void);

static uint known_local_id(void) {
  const uint id = __builtin_amdgcn_workitem_id_x();
#if SCOPE_LANES
  const uint group = __builtin_amdgcn_readfirstlane(any_number()) % (WG_SIZE / LANES);
  return group * LANES | id % LANES;
#else
  return id % WG_SIZE;
#endif
}
static uint known_num_groups(void) {
  return __builtin_amdgcn_readfirstlane(any_number());
}
#define get_local_id(axis) ((size_t)known_local_id())
#define get_group_id(axis) ((size_t)__builtin_amdgcn_workgroup_id_x())
#define get_num_groups(axis) ((size_t)known_num_groups())
#define get_local_size(axis) ((size_t)WG_SIZE)
#define get_global_id(axis) (get_group_id(axis) * WG_SIZE + get_local_id(axis))
#define get_global_size(axis) (get_num_groups(axis) * WG_SIZE)

// Equal to lanes.cl's, but in a form that LLVM sees through.
#define LANES_FIRST (known_local_id() / LANES * LANES)

#define intel_reqd_sub_group_size(lanes)
static uint CONVERGENT sub_group_reduce_add(uint value) {
  return SAME_IN_LANES(call_of_lanes(value));
}
static uint CONVERGENT sub_group_reduce_min(uint value) {
  return SAME_IN_LANES(call_of_lanes(value));
}
static ulong CONVERGENT sub_group_reduce_min(ulong value) {
  const ulong high = SAME_IN_LANES(call_of_lanes((uint)(value >> 32)));
  return high << 32 | SAME_IN_LANES(call_of_lanes((uint)value));
}
static uint CONVERGENT sub_group_broadcast(uint value, uint lane) {
  return SAME_IN_LANES(call_of_lanes(value + lane));
}
static uint CONVERGENT intel_sub_group_shuffle(uint value, uint lane) {
  return call_of_lanes(value + lane);
}
static uint CONVERGENT sub_group_scan_exclusive_add(uint value) {
  return call_of_lanes(value);
}
static uint CONVERGENT sub_group_scan_exclusive_max(uint value) {
  return call_of_lanes(value);
}
static void CONVERGENT sub_group_barrier(uint flags) {
  call_of_lanes(flags);
}

// Of a call that it cannot see into LLVM assumes that its result differs.
#define KNOWN_MIN_MAX(type)                                                              \
  static type OVERLOADED known_min(type a, type b) { return b < a ? b : a; } \
  static type OVERLOADED known_max(type a, type b) { return a < b ? b : a; }
KNOWN_MIN_MAX(int)
KNOWN_MIN_MAX(uint)
KNOWN_MIN_MAX(long)
KNOWN_MIN_MAX(ulong)
KNOWN_MIN_MAX(float)
KNOWN_MIN_MAX(double)
KNOWN_MIN_MAX(double2)
KNOWN_MIN_MAX(double4)
KNOWN_MIN_MAX(double8)
KNOWN_MIN_MAX(ulong8)
static uint OVERLOADED known_clz(uint value) {
  return __builtin_clz(value);
}
static ulong OVERLOADED known_clz(ulong value) {
  return __builtin_clzl(value);
}
static uint OVERLOADED known_popcount(uint value) {
  return __builtin_popcount(value);
}
static uint4 OVERLOADED known_popcount(uint4 value) {
  return (uint4)(known_popcount(value.x), known_popcount(value.y), known_popcount(value.z),
                 known_popcount(value.w));
}
#define min known_min
#define max known_max
#define clz known_clz
#define popcount known_popcount
