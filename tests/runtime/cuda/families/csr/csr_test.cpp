// The code of the csr kernel, run on the host lane by lane: heads in one launch, wide rows of B.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/csr/csr.cu"
#pragma GCC diagnostic pop

#include "tests/runtime/cuda/emulated_product.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceKernel;

namespace {

/// One row in pieces, others empty.
formats::Csr matrix_for(const DeviceKernel& kernel, Random& random) {
  return random_matrix(31, 300, kernel.values, random, [](std::int64_t r, std::int64_t) {
    return r == 9 ? 0.95 : r % 4 == 0 ? 0.0 : 0.03;
  });
}

std::vector<runtime::cuda::ScheduleScratch> scratch_of(const runtime::cuda::ScheduleHeader& header) {
  return {header.as<runtime::cuda::CsrHeader>().scratch};
}

}  // namespace

TEST_CASE("csr kernels: rows of B of whole multiples of 1,024 bytes, and beside them") {
  Random random(4);
  for (const DeviceKernel& kernel : runtime::cuda::csr_kernels()) {
    const formats::Csr a = matrix_for(kernel, random);
    const Formatted formatted = format_matrix(a, "csr", random_order(a.rows, random));
    const std::int64_t wide = 1024 / static_cast<std::int64_t>(size_of(kernel.dense));
    struct Columns {
      std::int64_t n, planned, pad;
    };
    for (const auto& [n, planned, pad] : std::initializer_list<Columns>{{wide, 0, 0},
                                                                        {wide, 0, 8},
                                                                        {wide, 0, 1},
                                                                        {2 * wide, 0, 0},
                                                                        {wide, 2 * wide, 0},
                                                                        {wide + wide / 2, 2 * wide, 8}})
      check_emulated_product(kernel,
                             {.exact = a,
                              .format = formatted.data.view(),
                              .order = formatted.order,
                              .n = n,
                              .pad = pad,
                              .alpha = -0.5,
                              .beta = pad == 0 ? 2.0 : 0.0,
                              .device = emulated_device(),
                              .scratch = scratch_of,
                              .planned_n = planned},
                             random);
  }
}

TEST_CASE("csr kernels: only where all heads are aligned, whole pieces are moved") {
  alignas(16) float memory[64];
  using runtime::cuda::whole_pieces;
  CHECK(whole_pieces({memory, 8, 16}, 8, sizeof(float)));
  for (const runtime::Operand& operand :
       {runtime::Operand{memory, 8, 17}, {memory, 9, 16}, {memory + 1, 8, 16}})
    CHECK_FALSE(whole_pieces(operand, 8, sizeof(float)));
}
