// Orderings on a device give the bits of those on the CPU.
#include "formats/core/random.hpp"
#include "reorder/greedy_packing.hpp"
#include "reorder/methods/pack.hpp"
#include "reorder/registry.hpp"
#include "runtime/cuda/device_order.hpp"
#include "tests/gpu/csr_on_device.hpp"
#include "tests/runtime/cuda/convert/convert_cases.hpp"

using namespace sptile;
using namespace sptile::test;

namespace {

template <class OrderOnDevice>
void check_order(const formats::Csr& a, const std::vector<std::int32_t>& expected,
                 const OrderOnDevice& order_of) {
  const CsrOnDevice device(a);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto made = order_of(device.csr);
    REQUIRE_MESSAGE(made.has_value(), made.error().text());
    std::vector<std::int32_t> order(static_cast<std::size_t>(a.rows));
    REQUIRE(runtime::cuda::download(0, ArrayView(DType::i32, made->new_to_old, a.rows), order.data()));
    CHECK(order == expected);
  }
}

void check_rabbit(const formats::Csr& a) {
  const auto expected = reorder::find_reorderer("rabbit")->run(a.view(), {});
  REQUIRE(expected);
  check_order(a, *expected, [](const runtime::cuda::DeviceCsr& csr) {
    return runtime::cuda::rabbit_on_device(csr, nullptr);
  });
}

void check_packing(const formats::Csr& a, int window_rows = 8) {
  const reorder::ReorderOptions options = {.window_rows = window_rows, .settings = reorder::kPackFast};
  const auto expected = reorder::find_reorderer("pack")->run(a.view(), options);
  const auto greedy = reorder::only_greedy(options);
  REQUIRE((expected && greedy));
  check_order(a, *expected, [&](const runtime::cuda::DeviceCsr& csr) {
    return runtime::cuda::pack_on_device(csr, {greedy->rules, greedy->degree_base}, nullptr);
  });
}

/// Returns the pattern of `degree` random columns per row, mostly low ones; every 500th row is long.
formats::Csr skewed(std::int64_t rows, std::int64_t cols, std::int64_t degree) {
  formats::Csr a;
  a.rows = rows;
  a.cols = cols;
  a.row_ptr = formats::Buffer<std::int64_t>(rows + 1);
  std::vector<std::int32_t> columns;
  a.row_ptr[0] = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    RandomStream random(7, static_cast<std::uint64_t>(r));
    std::vector<std::int32_t> row;
    for (std::int64_t k = r % 500 == 3 ? cols / 4 : degree; k > 0; --k)
      row.push_back(static_cast<std::int32_t>(random.below(1 + random.below(cols))));
    std::ranges::sort(row);
    row.erase(std::unique(row.begin(), row.end()), row.end());
    columns.insert(columns.end(), row.begin(), row.end());
    a.row_ptr[r + 1] = std::ssize(columns);
  }
  a.col_idx = formats::Buffer<std::int32_t>(std::ssize(columns));
  std::ranges::copy(columns, a.col_idx.begin());
  return a;
}

}  // namespace

TEST_CASE("cuda orderings: the order of the CPU for every shape of matrix") {
  for (const ConvertCase& one : convert_cases()) {
    CAPTURE(one.name);
    check_rabbit(one.matrix);
    check_packing(one.matrix);
  }
}

TEST_CASE("cuda orderings: the order of the CPU for larger matrices, three times") {
  for (const formats::Csr& a :
       {skewed(30000, 30000, 10), skewed(30000, 9000, 5), skewed(2000, 5000000, 30)}) {
    check_rabbit(a);
    check_packing(a);
    check_packing(a, 64);
  }
}
