// The code of the direct csr kernel, run on the host lane by lane.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/csr/direct.cu"
#pragma GCC diagnostic pop

#include "tests/runtime/cuda/emulated_product.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceKernel;
using runtime::cuda::direct_shape;
using runtime::cuda::DirectHeader;

namespace {

std::vector<runtime::cuda::ScheduleScratch> scratch_of(const runtime::cuda::ScheduleHeader& header) {
  return {header.as<DirectHeader>().scratch};
}

/// On one multiprocessor rows are whole, on many the long ones are in pieces.
constexpr int kMultiprocessors[] = {1, 132};

}  // namespace

TEST_CASE("direct csr kernels: every instance, every shape of a team") {
  Random random(1);
  for (const DeviceKernel& kernel : runtime::cuda::direct_kernels())
    for (const int sms : kMultiprocessors)
      for (const auto& [n, pad] : std::initializer_list<std::pair<std::int64_t, std::int64_t>>{{1, 0},
                                                                                               {2, 3},
                                                                                               {3, 1},
                                                                                               {4, 0},
                                                                                               {7, 1},
                                                                                               {8, 8},
                                                                                               {12, 0},
                                                                                               {13, 0},
                                                                                               {16, 0},
                                                                                               {27, 1},
                                                                                               {32, 0},
                                                                                               {32, 1},
                                                                                               {64, 16},
                                                                                               {67, 0},
                                                                                               {130, 2},
                                                                                               {264, 8}}) {
        if (kernel.values == DType::none && n != 3 && n != 64) continue;
        const formats::Csr a = uneven_matrix(75, 400, kernel.values, random);
        check_emulated_product(kernel,
                               {.exact = a,
                                .format = formats::as_format(a.view()),
                                .order = {},
                                .n = n,
                                .pad = pad,
                                .alpha = 2,
                                .beta = n % 2 == 0 ? 0 : -1.0,
                                .device = emulated_device(sms),
                                .scratch = scratch_of},
                               random);
      }
}

TEST_CASE("direct csr kernels: with much to do narrow teams have more rows of B on the way") {
  Random random(4);
  const formats::Csr a = random_matrix(300, 900, DType::f32, random, [](std::int64_t r, std::int64_t) {
    return r == 7 ? 1.0 : r == 8 ? 0.3 : r % 3 == 0 ? 0.12 : 0.02;  // a block's work, a warp's, some threads'
  });
  const auto at_once = [&](std::int64_t n, int sms) {
    return runtime::cuda::direct_schedule(a.row_ptr, {.shape = direct_shape(n, 4), .sum_bytes = 4},
                                          emulated_device(sms))
        .header.as<DirectHeader>()
        .at_once;
  };
  CHECK(at_once(1, 1) == runtime::cuda::kDirectMany);
  CHECK(at_once(8, 1) == runtime::cuda::kDirectMany);
  CHECK(at_once(1, 132) == runtime::cuda::kDirectFew);
  CHECK(at_once(32, 1) == runtime::cuda::kDirectFew);
  for (const DeviceKernel& kernel : runtime::cuda::direct_kernels()) {
    if (kernel.values != DType::f32) continue;
    for (const std::int64_t n : {1, 4, 8})
      check_emulated_product(kernel,
                             {.exact = a,
                              .format = formats::as_format(a.view()),
                              .order = {},
                              .n = n,
                              .device = emulated_device(1),
                              .scratch = scratch_of},
                             random);
  }
}

TEST_CASE(
    "direct csr kernels: a stored schedule with one bit changed, or of another N or device, is refused") {
  Random random(5);
  const formats::Csr a = uneven_matrix(75, 400, DType::f32, random);
  const formats::FormatView format = formats::as_format(a.view());
  for (const DeviceKernel& kernel : runtime::cuda::direct_kernels()) {
    if (kernel.values != kernel.dense) continue;
    REQUIRE(kernel.store != nullptr);
    const runtime::cuda::DeviceInfo device = emulated_device(132);
    runtime::cuda::Schedule made = kernel.schedule({format, 64, device});
    CHECK(made.header.as<DirectHeader>().pieces >= 3);
    CHECK(made.header.as<DirectHeader>().rows_at >= 0);
    const auto restored = [&](std::int64_t n, const runtime::cuda::DeviceInfo& on) {
      return kernel.store->restore({format, n, on}, {{}, made.bytes});
    };
    REQUIRE(restored(64, device));
    CHECK(restored(64, device)->workspace_bytes == made.workspace_bytes);
    for (std::size_t i = 0; i < made.bytes.size(); ++i) {
      CAPTURE(i);
      made.bytes[i] ^= std::byte{1} << (i % 8);
      const auto forged = restored(64, device);
      CHECK((!forged && forged.error().code == Errc::bad_input));
      made.bytes[i] ^= std::byte{1} << (i % 8);
    }
    CHECK_FALSE(restored(8, device));
    CHECK_FALSE(restored(64, emulated_device(1)));
    const std::int64_t number = 0;
    CHECK_FALSE(kernel.store->restore({format, 64, device}, {{&number, 1}, made.bytes}));
    made.bytes.pop_back();
    CHECK_FALSE(restored(64, device));
  }
}

TEST_CASE("direct csr kernels: rows of one class need no bytes, and come back without them") {
  Random random(6);
  const formats::Csr a = random_matrix(40, 40, DType::f32, random,
                                       [](std::int64_t r, std::int64_t c) { return r == c ? 1.0 : 0.0; });
  const formats::FormatView format = formats::as_format(a.view());
  const DeviceKernel& kernel = runtime::cuda::direct_kernels()[0];
  const runtime::cuda::DeviceInfo device = emulated_device();
  CHECK(kernel.schedule({format, 64, device}).bytes.empty());
  const auto restored = kernel.store->restore({format, 64, device}, {});
  REQUIRE(restored);
  CHECK(restored->header.as<DirectHeader>().row_blocks > 0);
}

TEST_CASE("direct csr kernels: a team holds whole rows of B where they are narrow") {
  CHECK(direct_shape(1, 4) == runtime::cuda::DirectShape{1, 1, 1});
  CHECK(direct_shape(4, 4) == runtime::cuda::DirectShape{1, 4, 1});
  CHECK(direct_shape(32, 4) == runtime::cuda::DirectShape{4, 4, 2});
  for (const int vector : {2, 4, 8})
    for (std::int64_t n = 1; n <= 300; ++n) {
      const auto shape = direct_shape(n, vector);
      CHECK(shape.slices(n) * shape.columns() >= n);
      if (n <= 16 * vector * 2) CHECK(shape.slices(n) == 1);
    }
}
