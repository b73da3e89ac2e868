// Tile kernels that divide windows as a paper does, run on the host lane by lane: what all of them must pass.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/tile/schedule.hpp"
#include "tests/runtime/cuda/emulated_block.hpp"
#include "tests/runtime/cuda/emulated_product.hpp"

namespace sptile::test {

using runtime::cuda::DeviceKernel;
using runtime::cuda::TileHeader;

struct Case {
  std::int64_t n = 32, pad = 0;
  bool permuted = false;
  double alpha = 1, beta = 0;
  std::int64_t planned_n = 0;
  bool nonfinite = false;  ///< see EmulatedProduct
};

/// Kernels of one format.
struct DividedKernels {
  std::string format;
  std::vector<DeviceKernel> kernels;
  formats::Csr (*long_window)(Random&);  ///< a matrix with a window that is cut

  TileHeader check_product(const DeviceKernel& kernel, const formats::Csr& a, const Case& c,
                           Random& random) const {
    const Formatted formatted =
        format_matrix(a, format, c.permuted ? random_order(a.rows, random) : std::vector<std::int32_t>{});
    emulated_block.late = !emulated_block.late;
    const runtime::cuda::Schedule schedule = check_emulated_product(
        kernel,
        {.exact = a,
         .format = formatted.data.view(),
         .order = formatted.order,
         .n = c.n,
         .pad = c.pad,
         .alpha = c.alpha,
         .beta = c.beta,
         .device = emulated_device(),
         .scratch =
             [](const runtime::cuda::ScheduleHeader& header) {
               return std::vector<runtime::cuda::ScheduleScratch>{header.as<TileHeader>().scratch};
             },
         .planned_n = c.planned_n,
         .nonfinite = c.nonfinite},
        random);
    return schedule.header.as<TileHeader>();
  }

  /// Any number of columns, any leading dimension, alpha and beta.
  void check_columns(Random& random) const {
    for (const DeviceKernel& kernel : kernels)
      for (const auto& [n, pad] : kRagged)
        check_product(kernel, n == 17 ? long_window(random) : uneven_matrix(29, 40, DType::f32, random),
                      {.n = n, .pad = pad, .permuted = true, .alpha = -0.5, .beta = 2}, random);
  }

  /// A plan for many columns serves few.
  void check_fewer_columns(Random& random) const {
    const formats::Csr a = long_window(random);
    const Formatted formatted = format_matrix(a, format);
    for (const DeviceKernel& kernel : kernels) {
      for (const auto& [planned, n] : kFewer)
        check_product(kernel, a, {.n = n, .pad = 8, .alpha = 2, .beta = -1, .planned_n = planned}, random);
      for (const std::int64_t n : {8, 32, 64, 72, 128, 200, 264, 1000})
        check_least_n(kernel, formatted.data.view(), n, emulated_device());
    }
  }

  /// NaN, infinity and the largest numbers in B give what IEEE arithmetic gives, or NaN.
  void check_nonfinite(Random& random) const {
    for (const DeviceKernel& kernel : kernels)
      for (const auto& [n, pad] : {std::pair<std::int64_t, std::int64_t>{32, 0}, {17, 1}})
        check_product(kernel, uneven_matrix(75, 90, DType::f32, random),
                      {.n = n, .pad = pad, .nonfinite = true}, random);
  }

  /// Matrices without rows, columns or entries.
  void check_empty(Random& random) const {
    for (const DeviceKernel& kernel : kernels)
      for (const auto& [m, k] : {std::pair{19, 7}, {0, 7}, {9, 0}, {1, 1}})
        check_product(kernel, random_matrix(m, k, m == 1 ? 1 : 0, DType::f32, random), {.n = 8, .beta = 3},
                      random);
  }
};

}  // namespace sptile::test
