// How long a step of a divided product will take: a model, to be held against measurements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/partition/survey.hpp"

namespace sptile::tools {

/// What the model knows of a machine.
struct ClusterModel {
  double bandwidth = 300e9;  ///< bytes a second that leave, and that reach, one device
  double latency = 5e-6;     ///< seconds for each other part that a part exchanges with
  double rate = 5e12;        ///< floating-point operations a second of a product on one device
  std::int64_t n = 128;      ///< columns of the dense operand
  std::int64_t value_bytes = 4;
};

/// The parts of a step of the part that takes longest.
struct StepPrediction {
  double step = 0, local = 0, halo = 0, exchange = 0;  ///< seconds
  double alone = 0;                                    ///< seconds of the whole product on one device
  double efficiency = 1;                               ///< alone / (parts * step)
};

/// step = max over parts of max(local, exchange) + halo, where local and halo are 2 n entries / rate, and
/// exchange = latency * peers + rows * n * value_bytes / bandwidth with the larger of what is sent and what
/// is received.
StepPrediction predict_step(const std::vector<PartCounts>& parts, const ClusterModel& model);

}  // namespace sptile::tools
