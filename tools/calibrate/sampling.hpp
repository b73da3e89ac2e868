// Measures the kernels of a device on the matrices of the suite.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/csr_view.hpp"
#include "runtime/spmm.hpp"
#include "tools/calibrate/fit.hpp"
#include "tools/verb.hpp"

namespace sptile::tools {

/// What to measure.
struct SamplingPlan {
  runtime::Device device = runtime::Device::cpu;
  std::vector<std::int64_t> columns;  ///< N
  bool half = false;                  ///< also f16 operands
};

/// Measures every format and kernel of the device for one matrix with f32 values, in every precision that
/// the kernel has, and appends the samples. Each result is compared with the reference on some of its rows.
/// Combinations that no kernel serves, and operands too large to be worth it, are left out.
/// Errc::check_failed when a result is wrong, Errc::device when the device fails.
Status sample_matrix(Session& session, const std::string& name, const formats::CsrView& a,
                     const SamplingPlan& plan, std::vector<Sample>& samples);

}  // namespace sptile::tools
