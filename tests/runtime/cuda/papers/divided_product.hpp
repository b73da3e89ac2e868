// Common tests of tile kernels that divide windows as in a paper, run on the host lane by lane.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/families/tile/schedule.hpp"
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
};

/// Kernels of one format.
struct DividedKernels {
  std::string format;
  std::vector<DeviceKernel> kernels;
  formats::Csr (*long_window)(Random&);  ///< a matrix with a split window

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
         .planned_n = c.planned_n},
        random);
    return schedule.header.as<TileHeader>();
  }
};

}  // namespace sptile::test
