// Which products are measured for selectors, on a device that is none.
#include "tools/calibrate/selector_sampling.hpp"

#include <doctest/doctest.h>

#include "runtime/operation/spmm.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {

/// Windows in tiles take 7 times N, those in rows 5.
class FakeBench final : public ProductBench {
 public:
  [[nodiscard]] runtime::Device kind() const override { return runtime::Device::cuda; }
  Status set_matrix(const formats::CsrView& source, const runtime::DenseTypes& dense) override {
    CHECK(source.values.dtype == dense.operands);
    types.push_back(dense.operands);
    entries = source.nnz();
    return {};
  }
  Status set_operands(const runtime::Operation& op, std::int64_t n) override {
    CHECK(&op == &runtime::kSpmm);
    n_ = n;
    return {};
  }
  Result<Measurement> measure(const runtime::PlanMatrix& a, const KernelRequest& request) override {
    CHECK(formats::check(a.format).has_value());
    CHECK(a.format.nnz == entries);
    const std::int64_t tiles = a.format.layout->tc_blocks(a.format);
    Measurement measured;
    measured.kernel = request.kernel;
    measured.precision = types.back() == DType::f16 ? "fp16" : "tf32";
    measured.n = n_;
    measured.median_us = static_cast<double>((tiles > 0 ? 7 : 5) * n_);
    measured.checked = true;
    measured.rel_err = wrong ? 1 : 0;
    return measured;
  }

  std::vector<DType> types;
  std::int64_t entries = 0;
  bool wrong = false;

 private:
  std::int64_t n_ = 0;
};

}  // namespace

TEST_CASE("selector sampling: each shape with both types and every N, on both kinds of core") {
  FakeBench bench;
  Session session;
  const SelectorSampling sampling = {.bench = &bench,
                                     .kernel = "some.kernel",
                                     .columns = {8, 16},
                                     .shapes = {{3, 4, false}, {9, 30, true}},
                                     .windows = 20,
                                     .matrix_cols = 100};
  const auto found = sample_selectors(session, sampling);
  REQUIRE(found.has_value());
  REQUIRE(found->size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    const SelectorSample& sample = (*found)[i];
    CHECK(sample.kernel == "some.kernel");
    CHECK(sample.precision == (i % 4 < 2 ? "tf32" : "fp16"));
    CHECK(sample.n == (i % 2 == 0 ? 8 : 16));
    CHECK(sample.shape.columns == (i < 4 ? 3 : 9));
    CHECK(sample.shape.held_out == (i >= 4));
    CHECK(sample.tensor_us == 7 * static_cast<double>(sample.n));
    CHECK(sample.cuda_us == 5 * static_cast<double>(sample.n));
  }
  CHECK(bench.entries == 20 * 30);
  CHECK(bench.types == std::vector<DType>{DType::f32, DType::f16, DType::f32, DType::f16});
}

TEST_CASE("selector sampling: a wrong result ends it, and so does who cancels") {
  FakeBench bench;
  Session session;
  SelectorSampling sampling = {.bench = &bench,
                               .kernel = "k",
                               .columns = {8},
                               .shapes = {{3, 4, false}},
                               .windows = 20,
                               .matrix_cols = 100};
  bench.wrong = true;
  CHECK(sample_selectors(session, sampling).error().code == Errc::check_failed);
  bench.wrong = false;
  session.progress.cancelled = true;
  CHECK(sample_selectors(session, sampling).error().code == Errc::io);
}
