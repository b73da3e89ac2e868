// Bad matrices are refused before anything multiplies with them, and the host says what is wrong, whoever
// found it.
#include "runtime/cuda/format_check.hpp"

#include <numeric>

#include "formats/core/random.hpp"
#include "formats/layout/registry.hpp"
#include "tests/gpu/device_problem.hpp"

using namespace sptile;
using namespace sptile::test;

namespace {

double skewed(std::int64_t r, std::int64_t) { return r % 40 == 3 ? 0.8 : 0.03; }

/// A matrix in an order, so that there is a row_order and a value_source.
Formatted ordered(const formats::Csr& a, std::string_view format) {
  return format_matrix(a, format, random_permutation(a.rows, RandomStream(8)));
}

runtime::PlanOptions on(runtime::Device device) { return {.n = 32, .device = device, .refreshable = true}; }

/// Plans on the CPU and on the device: the same error, or none.
void check_alike(const runtime::PlanMatrix& matrix) {
  const auto host = runtime::plan_spmm(matrix, on(runtime::Device::cpu));
  const auto device = runtime::plan_spmm(matrix, on(runtime::Device::cuda));
  CHECK(host.has_value() == device.has_value());
  if (host || device) return;
  CHECK(device.error().code == Errc::bad_input);
  CHECK(device.error().message == host.error().message);
}

/// Puts another byte into an array for as long as it lives.
class Changed {
 public:
  Changed(void* data, std::int64_t bytes, RandomStream& random)
      : at_(static_cast<unsigned char*>(data) + random.below(bytes)), before_(*at_) {
    *at_ = static_cast<unsigned char>(random.next());
  }
  Changed(const Changed&) = delete;
  Changed& operator=(const Changed&) = delete;
  ~Changed() { *at_ = before_; }

 private:
  unsigned char* at_;
  unsigned char before_;
};

}  // namespace

TEST_CASE("cuda check: every format takes what conversions make and refuses what the host refuses") {
  Random random(21);
  RandomStream places(22);
  const formats::Csr a = random_matrix(400, 900, DType::f32, random, skewed);
  int checked = 0;
  for (const formats::FormatLayout* layout : formats::layouts()) {
    CAPTURE(std::string(layout->name));
    checked += runtime::cuda::has_device_check(*layout) ? 1 : 0;
    Formatted formatted = ordered(a, layout->name);
    check_alike(formatted.matrix());
    for (std::size_t i = 0; i < formatted.data.arrays.size(); ++i) {
      if (layout->arrays[i].holds_values) continue;
      CAPTURE(std::string(layout->arrays[i].name));
      formats::Array& array = formatted.data.arrays[i];
      if (array.view().bytes() == 0) continue;
      for (int change = 0; change < 20; ++change) {
        const Changed changed(array.data(), array.view().bytes(), places);
        check_alike(formatted.matrix());
      }
    }
    for (int change = 0; change < 20; ++change) {
      const Changed changed(formatted.order.data(), 4 * std::ssize(formatted.order), places);
      check_alike(formatted.matrix());
    }
    for (int change = 0; change < 20; ++change) {
      const Changed changed(formatted.value_source.data(), formatted.value_source.view().bytes(), places);
      check_alike(formatted.matrix());
    }
  }
  CHECK(checked == 4);
}

TEST_CASE("cuda check: a bad matrix does not spoil the check of the next") {
  Random random(23);
  const formats::Csr a = random_matrix(300, 300, DType::f32, random, skewed);
  Formatted formatted = ordered(a, "bittcf");
  std::swap(formatted.order.front(), formatted.order.back());
  check_alike(formatted.matrix());
  formatted.order.front() = formatted.order.back();
  check_alike(formatted.matrix());
  formatted = ordered(a, "bittcf");
  CHECK(runtime::plan_spmm(formatted.matrix(), on(runtime::Device::cuda)).has_value());
}
