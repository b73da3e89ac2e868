// The steps of the conversions on devices, run on the host: the same bytes as the conversions for the CPU.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/convert/convert_cases.hpp"
#include "tests/runtime/cuda/convert/host_run.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceCsr;

namespace {

DeviceCsr view_of(const formats::Csr& a) {
  return {a.rows, a.cols, a.nnz(), a.row_ptr.data(), a.col_idx.data(), a.values.data(), a.values.dtype()};
}

void check_formats(const formats::Csr& a, bool backwards) {
  HostRun run(backwards);
  for (const formats::Converter& converter : formats::converters()) {
    CAPTURE(converter.format);
    const auto expected = converter.from_csr(a.view(), nullptr);
    REQUIRE(expected);
    const auto made = runtime::cuda::convert_on(run, *expected->layout, view_of(a), {});
    REQUIRE_MESSAGE(made.has_value(), made.error().message);
    check_same(*expected, made->view, made->parameters);
  }
}

}  // namespace

TEST_CASE("device conversions: every format of many matrices, byte by byte") {
  for (const ConvertCase& one : convert_cases()) {
    CAPTURE(one.name);
    for (const bool backwards : {false, true}) check_formats(one.matrix, backwards);
  }
}
