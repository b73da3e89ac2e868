// Stands in for vendor.cpp where a header was missing.
#include "tools/bench/layers/vendor.hpp"

namespace sptile::tools::layers {

Status load_vendor(bool) { return fail(Errc::unsupported, "this build has no cuBLAS or no cuSPARSE"); }

template <class T>
Launch vendor_gemm(Factor<T>, Factor<T>, T*, std::int64_t, std::int64_t, std::int64_t) {
  return {};
}
template <class T>
Launch vendor_spmm(const Sparse<T>&, Rows<T>, Rows<T>, std::int64_t) {
  return {};
}
template <class T>
Launch vendor_sddmm(const Sparse<T>&, Rows<T>, Rows<T>, std::int64_t) {
  return {};
}

#define SPTILE_VENDOR(T)                                                                           \
  template Launch vendor_gemm(Factor<T>, Factor<T>, T*, std::int64_t, std::int64_t, std::int64_t); \
  template Launch vendor_spmm(const Sparse<T>&, Rows<T>, Rows<T>, std::int64_t);                   \
  template Launch vendor_sddmm(const Sparse<T>&, Rows<T>, Rows<T>, std::int64_t)
SPTILE_VENDOR(float);
SPTILE_VENDOR(double);

}  // namespace sptile::tools::layers
