// The CPU kernels of one instruction set: the build compiles this file once for each, with SPTILE_ISA as the
// namespace and the matching machine flags.
#include "runtime/spmm/cpu_kernels.hpp"

#include "runtime/spmm/bittcf_decoder.hpp"
#include "runtime/spmm/bmat_decoder.hpp"
#include "runtime/spmm/csr_decoder.hpp"
#include "runtime/spmm/libra_spmm_decoder.hpp"
#include "runtime/spmm/me_tcf_decoder.hpp"
#include "runtime/spmm/rs_tile_decoder.hpp"
#include "runtime/spmm/sample.hpp"
#include "runtime/spmm/tall_decoder.hpp"

namespace sptile::runtime::SPTILE_ISA {
namespace {

template <class F, class V, class D>
constexpr CpuKernel row(DType values, DType dense) {
  return {"spmm", F::kFormat, false, values, dense, run_chunk<F, V, D>};
}

template <class F, class D>
constexpr CpuKernel sddmm_row(DType dense) {
  return {"sddmm", F::kFormat, true, DType::none, dense, sample_chunk<F, D>};
}

/// Pairs of types that SpMM takes, for every format: dense operands of the matrix's own type, f32 with the
/// half types, anything with a pattern. SDDMM takes every type of dense operands.
inline constexpr int kRowsPerFormat = 14;
template <class F>
constexpr void append(CpuKernel* rows) {
  const CpuKernel all[kRowsPerFormat] = {
      row<F, float, float>(DType::f32, DType::f32),
      row<F, double, double>(DType::f64, DType::f64),
      row<F, Half, float>(DType::f16, DType::f32),
      row<F, Half, Half>(DType::f16, DType::f16),
      row<F, BFloat16, float>(DType::bf16, DType::f32),
      row<F, BFloat16, BFloat16>(DType::bf16, DType::bf16),
      row<F, Ones, float>(DType::none, DType::f32),
      row<F, Ones, double>(DType::none, DType::f64),
      row<F, Ones, Half>(DType::none, DType::f16),
      row<F, Ones, BFloat16>(DType::none, DType::bf16),
      sddmm_row<F, float>(DType::f32),
      sddmm_row<F, double>(DType::f64),
      sddmm_row<F, Half>(DType::f16),
      sddmm_row<F, BFloat16>(DType::bf16),
  };
  for (int i = 0; i < kRowsPerFormat; ++i) rows[i] = all[i];
}

template <class... F>
struct Table {
  CpuKernel rows[sizeof...(F) * kRowsPerFormat] = {};
  constexpr Table() {
    CpuKernel* next = rows;
    ((append<F>(next), next += kRowsPerFormat), ...);
  }
};

constexpr Table<CsrKernel, MeTcfKernel, BitTcfKernel, BmatKernel, RsTileKernel, TallKernel, LibraSpmmKernel>
    kTable;

}  // namespace

CpuKernels cpu_kernels() { return {kTable.rows, static_cast<int>(sizeof(kTable.rows) / sizeof(CpuKernel))}; }

}  // namespace sptile::runtime::SPTILE_ISA
