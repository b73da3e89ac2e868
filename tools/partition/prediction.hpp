// Model of the time of a distributed product, to be compared with measurements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/partition/survey.hpp"

namespace sptile::tools {

/// Parameters of the machine.
struct ClusterModel {
  double bandwidth = 300e9;  ///< bytes per second that one device sends, and that it receives
  double latency = 5e-6;     ///< seconds per peer
  double rate = 5e12;        ///< floating-point operations per second of a product on one device
  std::int64_t n = 128;      ///< columns of the dense operand
  std::int64_t value_bytes = 4;
};

/// Times of the slowest part.
struct StepPrediction {
  double step = 0, local = 0, halo = 0, exchange = 0;  ///< seconds
  double alone = 0;                                    ///< seconds of the entire product on one device
  double efficiency = 1;                               ///< alone / (parts * step)
};

/// Predicts step = max over parts of max(local, exchange) + halo, where local and halo are 2 n entries /
/// rate, and exchange = latency * peers + rows * n * value_bytes / bandwidth, with the larger of sent and
/// received rows.
StepPrediction predict_step(const std::vector<PartCounts>& parts, const ClusterModel& model);

}  // namespace sptile::tools
