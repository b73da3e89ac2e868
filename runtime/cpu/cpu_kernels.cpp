// CPU kernels of one instruction set. The build compiles this file once per set, with SPTILE_ISA as the
// namespace and the matching machine flags. SPTILE_TILES is defined for the baseline only, which contains the
// kernels of tile formats.
#include "runtime/cpu/cpu_kernels.hpp"

#include "runtime/cpu/attention.hpp"
#include "runtime/cpu/bittcf_decoder.hpp"
#include "runtime/cpu/bmat_decoder.hpp"
#include "runtime/cpu/csr_decoder.hpp"
#include "runtime/cpu/csr_product.hpp"
#include "runtime/cpu/hc_window_decoder.hpp"
#include "runtime/cpu/libra_decoder.hpp"
#include "runtime/cpu/me_tcf_decoder.hpp"
#include "runtime/cpu/rs_tile_decoder.hpp"
#include "runtime/cpu/sddmm.hpp"
#include "runtime/cpu/spmm_update.hpp"
#include "runtime/cpu/tall_decoder.hpp"
#include "runtime/cpu/update_gradient.hpp"
#include "runtime/operation/attention.hpp"
#include "runtime/operation/attention_gradient.hpp"
#include "runtime/operation/attention_gradient_t.hpp"
#include "runtime/operation/edge_attention.hpp"
#include "runtime/operation/gatv2.hpp"
#include "runtime/operation/gatv2_edges.hpp"
#include "runtime/operation/layer_gradient.hpp"
#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/softmax_rows.hpp"
#include "runtime/operation/softmax_rows_gradient.hpp"
#include "runtime/operation/spmm.hpp"
#include "runtime/operation/spmm_reduce.hpp"
#include "runtime/operation/spmm_update.hpp"
#include "runtime/operation/update_gradient.hpp"

namespace sptile::runtime::SPTILE_ISA {
namespace {

/// Summaries of the kernels of an operation, for csr and for the other formats.
struct Summaries {
  const char *rows, *tiles;

  template <class F>
  [[nodiscard]] constexpr const char* of() const {
    return std::is_same_v<F, CsrKernel> ? rows : tiles;
  }
};
constexpr Summaries kSpmmSummaries = {"row-wise, sums of a block of columns in registers",
                                      "tile rows decoded to short rows, then multiplied as csr"};
constexpr Summaries kSddmmSummaries = {"four dot products at a time over csr rows",
                                       "tile rows decoded to columns and positions, then as csr"};

/// Kernel of a format for values of type V, a B of type D and a C of type R.
template <class F, class V, class D, class R = D>
constexpr ChunkFn kProduct = run_chunk<F, V, D, R>;
template <class V, class D, class R>
constexpr ChunkFn kProduct<CsrKernel, V, D, R> = run_csr<V, D, R>;

/// Type combinations of SpMM for every format: dense operands of the matrix's type, f32 with 16-bit values,
/// any type with a pattern. Results of 16-bit types may be f32.
template <class F>
constexpr CpuFunction kMultiply[] = {
    {DType::f32, DType::f32, kProduct<F, float, float>},
    {DType::f64, DType::f64, kProduct<F, double, double>},
    {DType::f16, DType::f32, kProduct<F, Half, float>},
    {DType::f16, DType::f16, kProduct<F, Half, Half>},
    {DType::bf16, DType::f32, kProduct<F, BFloat16, float>},
    {DType::bf16, DType::bf16, kProduct<F, BFloat16, BFloat16>},
    {DType::none, DType::f32, kProduct<F, Ones, float>},
    {DType::none, DType::f64, kProduct<F, Ones, double>},
    {DType::none, DType::f16, kProduct<F, Ones, Half>},
    {DType::none, DType::bf16, kProduct<F, Ones, BFloat16>},
    {DType::f16, DType::f16, kProduct<F, Half, Half, float>, DType::f32},
    {DType::bf16, DType::bf16, kProduct<F, BFloat16, BFloat16, float>, DType::f32},
    {DType::none, DType::f16, kProduct<F, Ones, Half, float>, DType::f32},
    {DType::none, DType::bf16, kProduct<F, Ones, BFloat16, float>, DType::f32},
};

/// SDDMM supports all dense types with any value type.
template <class F>
constexpr CpuFunction kSample[] = {
    {DType::none, DType::f32, sample_chunk<F, float>},
    {DType::none, DType::f64, sample_chunk<F, double>},
    {DType::none, DType::f16, sample_chunk<F, Half>},
    {DType::none, DType::bf16, sample_chunk<F, BFloat16>},
    {DType::none, DType::f16, sample_chunk<F, Half, float>, DType::f32},
    {DType::none, DType::bf16, sample_chunk<F, BFloat16, float>, DType::f32},
};

/// Functions of kernels that iterate over rows of csr, for any value type.
template <void (*kRows)(const Task&, const Chunk&, const RowMath&) noexcept>
constexpr CpuFunction kOverRows[] = {
    {DType::none, DType::f32, row_math_chunk<kRows, float>},
    {DType::none, DType::f64, row_math_chunk<kRows, double>},
    {DType::none, DType::f16, row_math_chunk<kRows, Half>},
    {DType::none, DType::bf16, row_math_chunk<kRows, BFloat16>},
    {DType::none, DType::f16, row_math_chunk<kRows, Half, float>, DType::f32},
    {DType::none, DType::bf16, row_math_chunk<kRows, BFloat16, float>, DType::f32},
};
template <int kCount>
constexpr CpuKernel over_rows(const Operation* op, const char* summary,
                              const CpuFunction (&functions)[kCount]) {
  return {op, "csr", summary, true, functions, kCount};
}
constexpr CpuFunction kUpdate[] = {
    {DType::none, DType::f32, update_chunk<float>},
    {DType::none, DType::f64, update_chunk<double>},
    {DType::none, DType::f16, update_chunk<Half>},
    {DType::none, DType::bf16, update_chunk<BFloat16>},
    {DType::none, DType::f16, update_chunk<Half, float>, DType::f32},
    {DType::none, DType::bf16, update_chunk<BFloat16, float>, DType::f32},
};
constexpr CpuFunction kGradient[] = {
    {DType::none, DType::f32, gradient_chunk<float>},
    {DType::none, DType::f64, gradient_chunk<double>},
    {DType::none, DType::f16, gradient_chunk<Half>},
    {DType::none, DType::bf16, gradient_chunk<BFloat16>},
    {DType::none, DType::f16, gradient_chunk<Half, float>, DType::f32},
    {DType::none, DType::bf16, gradient_chunk<BFloat16, float>, DType::f32},
};

constexpr int kRowsPerFormat = 2;

/// Kernels for csr only, which is always stored.
constexpr CpuKernel kCsrRows[] = {
    {&kSpmmUpdate, "csr", "fused: each row of A B is multiplied by the weights while in cache", true, kUpdate,
     std::size(kUpdate)},
    {&kUpdateGradient, "csr", "tiles of rows; one thread per sum over all rows", true, kGradient,
     std::size(kGradient)},
    over_rows(&kSpmmMax, "row-wise, maxima of a few vectors of columns in registers", kOverRows<reduce_max>),
    over_rows(&kSpmmMin, "row-wise, minima of a few vectors of columns in registers", kOverRows<reduce_min>),
    over_rows(&kSpmmMaxGradient, "dot products over the columns that an entry gave, in double",
              kOverRows<reduce_gradient>),
    over_rows(&kSpmmMaxGradientT, "row-wise, sums of the columns that an entry gave",
              kOverRows<reduce_gradient_t>),
    over_rows(&kLayerGradient, "sums of a few columns of X over all rows, in double",
              kOverRows<layer_gradient>),
    over_rows(&kSoftmaxRows, "three passes over each row, in double", kOverRows<softmax_rows>),
    over_rows(&kSoftmaxRowsGradient, "two passes over each row, in double", kOverRows<softmax_rows_gradient>),
    over_rows(&kAttention, "blocks of up to 512 scores, then the weighted rows of V", kOverRows<attend>),
    over_rows(&kAttentionGradient, "recomputed scores, weighted rows of Y", kOverRows<attend_gradient>),
    over_rows(&kAttentionGradientT, "recomputed scores, weighted rows of X and dout",
              kOverRows<attend_gradient_t>),
    over_rows(&kGatv2, "blocks of up to 512 scores, then the weighted rows of Y", kOverRows<gatv2_attend>),
    over_rows(&kGatv2Gradient, "recomputed scores, sums of a leaky_relu'", kOverRows<gatv2_attend_gradient>),
    over_rows(&kGatv2GradientT, "recomputed scores, weighted rows of dout and sums of a leaky_relu'",
              kOverRows<gatv2_attend_gradient_t>),
    over_rows(&kEdgeAttention, "blocks of up to 512 scores, then the weighted rows of V and edges",
              kOverRows<edge_attend>),
    over_rows(&kEdgeAttentionGradient, "recomputed scores, weighted rows of Y and edges",
              kOverRows<edge_attend_gradient>),
    over_rows(&kGatv2WithFeatures, "as gatv2, with sums of features in registers",
              kOverRows<gatv2_attend_features>),
    over_rows(&kGatv2WithFeaturesGradient, "as gatv2_gradient, with sums of features in registers",
              kOverRows<gatv2_attend_features_gradient>),
    over_rows(&kGatv2WithFeaturesGradientT, "as gatv2_gradient_t, with sums of features in registers",
              kOverRows<gatv2_attend_features_gradient_t>),
    over_rows(&kGatv2WithFeaturesWeights, "sums of a few columns over all entries",
              kOverRows<gatv2_features_weights>),
};

/// A format and its kernel; several formats may share a kernel.
template <class F>
struct Entry {
  const char* format;
};

template <int kFormats>
struct Table {
  CpuKernel rows[kFormats * kRowsPerFormat + std::size(kCsrRows)] = {};

  template <class... F>
  constexpr explicit Table(Entry<F>... formats) {
    CpuKernel* next = rows;
    ((append<F>(formats.format, next), next += kRowsPerFormat), ...);
    for (const CpuKernel& row : kCsrRows) *next++ = row;
  }

 private:
  template <class F>
  static constexpr void append(const char* format, CpuKernel* to) {
    to[0] = {&kSpmm, format, kSpmmSummaries.of<F>(), false, kMultiply<F>, std::size(kMultiply<F>)};
    to[1] = {&kSddmm, format, kSddmmSummaries.of<F>(), true, kSample<F>, std::size(kSample<F>)};
  }
};
template <class... F>
Table(Entry<F>...) -> Table<static_cast<int>(sizeof...(F))>;

#ifdef SPTILE_TILES
constexpr Table kTable{
    Entry<CsrKernel>{"csr"},          Entry<MeTcfKernel>{"me_tcf"},      Entry<BitTcfKernel>{"bittcf"},
    Entry<BmatKernel>{"bmat"},        Entry<RsTileKernel>{"rs_tile"},    Entry<TallKernel>{"tall"},
    Entry<LibraKernel>{"libra_spmm"}, Entry<LibraKernel>{"libra_sddmm"}, Entry<HcWindowKernel>{"hc_window"}};
#else
constexpr Table kTable{Entry<CsrKernel>{"csr"}};
#endif

}  // namespace

CpuKernels cpu_kernels() { return {kTable.rows, static_cast<int>(sizeof(kTable.rows) / sizeof(CpuKernel))}; }

}  // namespace sptile::runtime::SPTILE_ISA
