#include "runtime/cpu/isa.hpp"

#if defined(SPTILE_SVE)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

namespace sptile::runtime {
namespace {

bool always() { return true; }

#if defined(__x86_64__) && !defined(SPTILE_GENERIC)
/// Every processor with AVX2 has F16C, which clang 14 cannot query.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}
#elif defined(SPTILE_SVE)
/// The kernels are compiled for vectors of exactly 32 bytes. The vector length of the process may be lower
/// than that of the processor.
bool has_sve() {
  if ((getauxval(AT_HWCAP) & HWCAP_SVE) == 0) return false;
  const int length = prctl(PR_SVE_GET_VL);
  return length >= 0 && (length & PR_SVE_VL_LEN_MASK) == 32;
}
#endif

constexpr Isa kIsas[] = {
    {"generic", always, generic::cpu_kernels},
#if defined(__x86_64__) && !defined(SPTILE_GENERIC)
    {"avx2", has_avx2, avx2::cpu_kernels},
    {"avx512", has_avx512, avx512::cpu_kernels},
#elif defined(__aarch64__)
    {"neon", always, generic::cpu_kernels},  // part of the architecture, and used by the generic code
#endif
#if defined(SPTILE_SVE)
    {"sve", has_sve, sve::cpu_kernels},
#endif
};

}  // namespace

std::span<const Isa> isas() { return kIsas; }

const Isa* find_isa(std::string_view name) {
  for (const Isa& isa : kIsas)
    if (isa.name == name) return &isa;
  return nullptr;
}

ChunkFn find_function(const Kernel& kernel, DType values, const DenseTypes& dense) {
  const CpuKernels all = find_isa(kernel.isa)->kernels();
  for (const CpuKernel& row : std::span(all.rows, static_cast<std::size_t>(all.count))) {
    if (row.op != kernel.op || row.format != kernel.format) continue;
    for (const CpuFunction& f : std::span(row.functions, static_cast<std::size_t>(row.count)))
      if ((row.any_values || f.values == values) && DenseTypes(f.dense, f.result) == dense) return f.run;
  }
  return nullptr;
}

}  // namespace sptile::runtime
