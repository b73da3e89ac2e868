#include "tools/measure/bench_plot.hpp"

#include <doctest/doctest.h>

#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/spmm.hpp"
#include "tools/cli/json.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {
Json row(const runtime::Operation& op) {
  return {{"matrix", "a.mtx"},
          {"op", op.name},
          {"format", "csr"},
          {"kernel", "k"},
          {"precision", "f"},
          {"reorder", "a"},
          {"window_rows", 8},
          {"flush_l2", false},
          {"graph", false},
          {"device", "cpu"},
          {"host", "h"},
          {"version", "1"},
          {"n", 8},
          {"gflops", 2.5}};
}
}  // namespace

TEST_CASE("a plot has the operations of its rows as title") {
  CHECK(bench_plot(Json::array({row(runtime::kSddmm)})).find(">SDDMM<") != std::string::npos);
  const std::string both = bench_plot(Json::array({row(runtime::kSddmm), row(runtime::kSpmm)}));
  CHECK(both.find(">SpMM and SDDMM<") != std::string::npos);
}
