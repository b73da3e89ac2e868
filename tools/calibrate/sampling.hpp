// Measures the kernels of a device on the matrices of the suite.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/csr_view.hpp"
#include "tools/calibrate/fit.hpp"
#include "tools/calibrate/threshold.hpp"
#include "tools/cuda/device_bench.hpp"
#include "tools/verb.hpp"

namespace sptile::tools {

/// What to measure.
struct SamplingPlan {
  DeviceBench* bench = nullptr;       ///< what measures on a CUDA device; null: the CPU is measured
  std::vector<std::int64_t> columns;  ///< N
  bool half = false;                  ///< also f16 operands
  bool thresholds = false;            ///< on CUDA, also the formats of Libra with each of some thresholds
};

/// What was measured.
struct Measurements {
  std::vector<Sample> samples;
  std::vector<ThresholdSample> thresholds;
};

/// Measures every format and kernel of the device for one matrix with f32 values, in every precision that
/// the kernel has, and appends what it found. Each result is compared with the reference, on a CPU on some of
/// its rows. Combinations that no kernel serves, and operands too large to be worth it, are left out.
/// Errc::check_failed when a result is wrong, Errc::device when the device fails.
Status sample_matrix(Session& session, const std::string& name, const formats::CsrView& a,
                     const SamplingPlan& plan, Measurements& found);

}  // namespace sptile::tools
