// Model of the time of a distributed product, fitted to measurements with one and two GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/partition/survey.hpp"
#include "tools/partition/work.hpp"

namespace sptile::tools {

/// Rates of products on one device. The defaults are fitted to an NVIDIA H100, see
/// docs/guide/several-gpus.md.
struct ProductModel {
  double launch = 5e-6;      ///< seconds
  double rate = 27e12;       ///< floating-point operations per second
  double near = 10.7e12;     ///< bytes per second of loads that miss the near cache
  double memory = 4.0e12;    ///< bytes per second of loads that miss the far cache, and of rows of C
  double halo_factor = 2.4;  ///< time of a halo product over that of a local product of the same work

  /// Returns the seconds of a local product with n columns; 0 without entries.
  [[nodiscard]] double seconds(const ProductWork& work, std::int64_t n, std::int64_t row_bytes) const;
};

/// Parameters of the machine.
struct ClusterModel {
  double bandwidth = 350e9;  ///< bytes per second that one device sends, and that it receives
  double latency = 5e-6;     ///< seconds per peer
  double start = 36e-6;      ///< seconds of an exchange with one peer, without latency and rows
  /// Floating-point operations per second of all products, instead of `product`.
  std::optional<double> rate = {};
  ProductModel product = {};
  std::int64_t n = 128;  ///< columns of the dense operand
  std::int64_t value_bytes = 4;

  [[nodiscard]] std::int64_t row_bytes() const { return n * value_bytes; }
};

/// Times of the slowest part.
struct StepPrediction {
  double step = 0, local = 0, halo = 0, exchange = 0;  ///< seconds
  double alone = 0;                                    ///< seconds of the entire product on one device
  double efficiency = 1;                               ///< alone / (parts * step)
};

/// Predicts step = max over parts of max(local, exchange) + halo. exchange = start + latency * peers + rows *
/// row bytes / bandwidth, with the larger of sent and received rows, or 0 without rows. `parts` and
/// `work.parts` are parallel.
StepPrediction predict_step(const std::vector<PartCounts>& parts, const StepWork& work,
                            const ClusterModel& model);

}  // namespace sptile::tools
