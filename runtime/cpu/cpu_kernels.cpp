// The CPU kernels of one instruction set: the build compiles this file once for each, with SPTILE_ISA as the
// namespace and the matching machine flags.
#include "runtime/cpu/cpu_kernels.hpp"

#include "runtime/cpu/bittcf_decoder.hpp"
#include "runtime/cpu/bmat_decoder.hpp"
#include "runtime/cpu/csr_decoder.hpp"
#include "runtime/cpu/libra_decoder.hpp"
#include "runtime/cpu/me_tcf_decoder.hpp"
#include "runtime/cpu/rs_tile_decoder.hpp"
#include "runtime/cpu/sddmm.hpp"
#include "runtime/cpu/tall_decoder.hpp"
#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/spmm.hpp"

namespace sptile::runtime::SPTILE_ISA {
namespace {

/// What the kernels of an operation do, for csr and for the others.
struct Summaries {
  const char *rows, *tiles;

  template <class F>
  [[nodiscard]] constexpr const char* of() const {
    return std::is_same_v<F, CsrKernel> ? rows : tiles;
  }
};
constexpr Summaries kSpmmSummaries = {"rows with the sums of up to 8 vectors of columns in registers",
                                      "tile rows decoded into short rows, then multiplied as csr"};
constexpr Summaries kSddmmSummaries = {"4 dot products at a time, entries of csr rows",
                                       "tile rows decoded into columns and positions, then as csr"};

template <class F, class V, class D, class R = D>
constexpr CpuKernel row(const char* format, DType values, DType dense, DType result = DType::none) {
  return {&kSpmm, format, kSpmmSummaries.of<F>(), false, values, dense, run_chunk<F, V, D, R>, result};
}

template <class F, class D, class R = D>
constexpr CpuKernel sddmm_row(const char* format, DType dense, DType result = DType::none) {
  return {&kSddmm, format, kSddmmSummaries.of<F>(), true, DType::none, dense, sample_chunk<F, D, R>, result};
}

/// Pairs of types that SpMM takes, for every format: dense operands of the matrix's own type, f32 with the
/// half types, anything with a pattern. SDDMM takes every type of dense operands. Results of the half types
/// may be f32.
inline constexpr int kRowsPerFormat = 20;
template <class F>
constexpr void append(const char* format, CpuKernel* rows) {
  const CpuKernel all[kRowsPerFormat] = {
      row<F, float, float>(format, DType::f32, DType::f32),
      row<F, double, double>(format, DType::f64, DType::f64),
      row<F, Half, float>(format, DType::f16, DType::f32),
      row<F, Half, Half>(format, DType::f16, DType::f16),
      row<F, BFloat16, float>(format, DType::bf16, DType::f32),
      row<F, BFloat16, BFloat16>(format, DType::bf16, DType::bf16),
      row<F, Ones, float>(format, DType::none, DType::f32),
      row<F, Ones, double>(format, DType::none, DType::f64),
      row<F, Ones, Half>(format, DType::none, DType::f16),
      row<F, Ones, BFloat16>(format, DType::none, DType::bf16),
      row<F, Half, Half, float>(format, DType::f16, DType::f16, DType::f32),
      row<F, BFloat16, BFloat16, float>(format, DType::bf16, DType::bf16, DType::f32),
      row<F, Ones, Half, float>(format, DType::none, DType::f16, DType::f32),
      row<F, Ones, BFloat16, float>(format, DType::none, DType::bf16, DType::f32),
      sddmm_row<F, float>(format, DType::f32),
      sddmm_row<F, double>(format, DType::f64),
      sddmm_row<F, Half>(format, DType::f16),
      sddmm_row<F, BFloat16>(format, DType::bf16),
      sddmm_row<F, Half, float>(format, DType::f16, DType::f32),
      sddmm_row<F, BFloat16, float>(format, DType::bf16, DType::f32),
  };
  for (int i = 0; i < kRowsPerFormat; ++i) rows[i] = all[i];
}

/// A format and the kernel that serves it; one kernel may serve several.
template <class F>
struct Serves {
  const char* format;
};

template <int kFormats>
struct Table {
  CpuKernel rows[kFormats * kRowsPerFormat] = {};

  template <class... F>
  constexpr explicit Table(Serves<F>... formats) {
    CpuKernel* next = rows;
    ((append<F>(formats.format, next), next += kRowsPerFormat), ...);
  }
};
template <class... F>
Table(Serves<F>...) -> Table<static_cast<int>(sizeof...(F))>;

constexpr Table kTable{Serves<CsrKernel>{"csr"},          Serves<MeTcfKernel>{"me_tcf"},
                       Serves<BitTcfKernel>{"bittcf"},    Serves<BmatKernel>{"bmat"},
                       Serves<RsTileKernel>{"rs_tile"},   Serves<TallKernel>{"tall"},
                       Serves<LibraKernel>{"libra_spmm"}, Serves<LibraKernel>{"libra_sddmm"}};

}  // namespace

CpuKernels cpu_kernels() { return {kTable.rows, static_cast<int>(sizeof(kTable.rows) / sizeof(CpuKernel))}; }

}  // namespace sptile::runtime::SPTILE_ISA
