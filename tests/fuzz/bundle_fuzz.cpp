// Opens any bytes as a bundle, as they are and unfolded with hashes made right, and does with it what `info`,
// `verify`, `export` and `run` do. Beyond not crashing: arrays lie inside the file; what passes the checks
// expands to a valid CSR, and its products are those of that CSR; all formats of a sound bundle hold the
// matrix of /csr.
#include <fcntl.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "formats/convert/packed_positions.hpp"
#include "formats/io/matrix_market/matrix_market.hpp"
#include "formats/layout/csr.hpp"
#include "runtime/bundle/bundle_matrix.hpp"
#include "runtime/plan/sddmm.hpp"
#include "runtime/plan/spmm.hpp"
#include "runtime/reference/element.hpp"
#include "runtime/reference/sddmm.hpp"
#include "runtime/reference/spmm.hpp"
#include "tests/fuzz/folded_bundle.hpp"
#include "tools/bundle/checks.hpp"
#include "tools/bundle/rebuild.hpp"

namespace {

using namespace sptile;
using namespace sptile::formats;
using runtime::Bundle;

constexpr std::int64_t kN = 3;                 // columns of dense operands
constexpr std::int64_t kMaxColumns = 1 << 12;  // of which B and Y are made
constexpr std::int64_t kMaxRows = 1 << 16;
constexpr double kLargest = 1e30;  // beyond it sums of f32 overflow that a double holds

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "bundle_fuzz: %s\n", what);
  std::abort();
}

void require_inside(const Bundle& bundle, Bytes file) {
  for (const runtime::BundleArray& array : bundle.arrays()) {
    const auto* data = static_cast<const std::byte*>(array.array.data);
    const auto bytes = static_cast<std::size_t>(array.array.bytes());
    require(bytes == 0 || (data >= file.data() + kPage && bytes <= file.size() &&
                           data <= file.data() + file.size() - bytes),
            "an array reaches out of the file");
  }
}

/// A dense operand of small numbers.
Array numbers(DType dtype, std::int64_t size) {
  Array array(dtype, size);
  for (std::int64_t i = 0; i < size; ++i)
    runtime::write_element(dtype, array.data(), i, static_cast<double>(i % 7 - 3));
  return array;
}

bool has_plain_numbers(const Csr& a) {
  for (std::int64_t i = 0; i < a.values.size(); ++i)
    if (!(std::abs(runtime::read_element(a.values.dtype(), a.values.data(), i)) < kLargest)) return false;
  return true;
}

DType dense_for(const Csr& a) { return a.values.dtype() == DType::f64 ? DType::f64 : DType::f32; }

/// How a format is planned. Stored plans of a bundle that is not sound may be refused.
struct Planning {
  bool refreshable = false, stored = false;
};

void multiply(const runtime::PlanMatrix& matrix, const Csr& a, const Planning& planning) {
  const DType dense = dense_for(a);
  const bool refreshable = planning.refreshable;
  const auto plan = runtime::plan_spmm(
      matrix, {.n = kN, .dense = dense, .threads = 1, .refreshable = refreshable, .stored = planning.stored});
  if (!plan) return require(refreshable, "a checked format cannot be planned");
  if (refreshable) return;  // values of /csr may have another type; nothing more can break
  const Array b = numbers(dense, a.cols * kN);
  Array c(dense, a.rows * kN);
  const runtime::SpmmOperands operands{b.data(), kN, c.data(), kN, 1, 0};
  require(runtime::run(**plan, operands).has_value(), "a planned product does not run");
  if (has_plain_numbers(a))
    require(
        runtime::relative_error(a.view(), kN, dense, operands) <= runtime::tolerated_error(a.view(), dense),
        "a product is not that of the matrix");
}

void sample(const runtime::PlanMatrix& matrix, const Csr& a, bool stored) {
  const DType dense = dense_for(a);
  const auto plan = runtime::plan_sddmm(matrix, {.n = kN, .dense = dense, .threads = 1, .stored = stored});
  require(plan.has_value(), "a checked format cannot be planned for SDDMM");
  const Array x = numbers(dense, a.rows * kN), y = numbers(dense, a.cols * kN);
  Array out(dense, a.nnz());
  const runtime::SddmmOperands operands{x.data(), kN, y.data(), kN, out.data(), 1, 0, true};
  require(runtime::run(**plan, operands).has_value(), "a planned SDDMM does not run");
  const auto packed = packed_positions(matrix.format, matrix.row_order);
  require(packed.has_value(), "a checked format has no positions");
  if (has_plain_numbers(a))
    require(runtime::relative_error(a.view(), packed->view().as<std::int64_t>(), kN, dense, operands) <=
                runtime::tolerated_sum_error(kN + 1, dense),
            "an SDDMM is not that of the matrix");
}

/// Compares with /csr, independently of how `verify` does it.
bool same_as_source(const Bundle& bundle, const Csr& matrix, Side side) {
  const Csr a = side == Side::matrix ? copy(matrix.view()) : transpose(matrix.view());
  const CsrView source = bundle.csr();
  if (!std::ranges::equal(source.row_ptr, a.row_ptr.span()) ||
      !std::ranges::equal(source.col_idx, a.col_idx.span()) || source.values.present() != a.values.present())
    return false;
  Array rounded(a.values.dtype(), a.values.size());
  for (std::int64_t i = 0; i < rounded.size(); ++i) {
    const double from = runtime::read_element(source.values.dtype, source.values.data, i);
    runtime::write_element(rounded.dtype(), rounded.data(), i, from);
    const double wanted = runtime::read_element(rounded.dtype(), rounded.data(), i);
    const double found = runtime::read_element(a.values.dtype(), a.values.data(), i);
    if (wanted != found && !(std::isnan(wanted) && std::isnan(found))) return false;
  }
  return true;
}

/// What `info` reads.
void describe(const FormatView& view) {
  static_cast<void>(view.layout->tc_blocks(view));
  require(index_bytes(view) >= 0 && value_bytes(view) >= 0, "a size is negative");
}

void use_format(const std::shared_ptr<const Bundle>& bundle, const FormatView& view, Side side, bool sound) {
  describe(view);
  const auto a = tools::rebuild_matrix(*bundle, view, side);
  if (!a) return require(!sound, "a sound bundle cannot be exported");
  require(check_csr(a->view()).has_value(), "a checked format is no valid CSR");
  if (sound) require(same_as_source(*bundle, *a, side), "a sound bundle holds two matrices");
  require(write_matrix_market(a->view(), "-").has_value(), "a matrix cannot be printed");
  if (bundle->cols() > kMaxColumns || bundle->rows() > kMaxRows) return;
  const auto matrix = runtime::matrix_of(bundle, view.layout->name, side);
  require(matrix.has_value(), "a format that is there is not found");
  multiply(*matrix, *a, {.stored = sound});
  if (matrix->value_source.present()) multiply(*matrix, *a, {.refreshable = true, .stored = sound});
  sample(*matrix, *a, sound);
}

void open_and_use(Bytes file) {
  const auto bundle = Bundle::from_memory(file, "fuzz.h5");
  if (!bundle) return;
  require_inside(**bundle, file);
  const auto checks = tools::check_bundle(**bundle, nullptr);
  const bool sound = std::ranges::all_of(checks, [](const auto& c) { return c.outcome.has_value(); });
  for (const Side side : {Side::matrix, Side::transpose})
    for (const FormatView& view : (*bundle)->formats(side)) use_format(*bundle, view, side, sound);
}

/// What is printed is looked at by sanitizers alone.
bool discard_output() {
  const int null = ::open("/dev/null", O_WRONLY);
  return null >= 0 && ::dup2(null, STDOUT_FILENO) >= 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool quiet = discard_output();
  require(quiet, "no /dev/null");
  static const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  const Bytes input(reinterpret_cast<const std::byte*>(data), size);
  Buffer<std::byte> copy(static_cast<std::int64_t>(size));  // aligned
  std::copy(input.begin(), input.end(), copy.begin());
  open_and_use(copy.span());
  const Buffer<std::byte> image = unfold(input);
  if (!image.empty()) open_and_use(image.span());
  return 0;
}
