// Sinks of references: numbers are written, or compared with those of a kernel.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/reference/element.hpp"
#include "runtime/reference/number.hpp"

namespace sptile::runtime {

/// Returns the element_error of a computed number.
inline double number_error(DType type, double computed, const ReferenceNumber& number) {
  const double distance = computed - number.value;
  if (number.slack != 0 && std::isfinite(distance))
    computed = number.value + std::copysign(std::max(std::fabs(distance) - number.slack, 0.0), distance);
  return element_error(type, computed, number.value, number.scale);
}

inline void write_number(void* data, DType type, std::int64_t at, const ReferenceNumber& number) {
  if (data != nullptr) write_element(type, data, at, number.value);
}

/// Keeps the maximum element_error.
class WorstError {
 public:
  [[nodiscard]] ResultSink sink() {
    return [this](const void* data, DType type, std::int64_t at, const ReferenceNumber& number) {
      if (data != nullptr)
        worst_ = std::max(worst_, number_error(type, read_element(type, data, at), number));
    };
  }
  [[nodiscard]] double worst() const { return worst_; }

 private:
  double worst_ = 0;
};

}  // namespace sptile::runtime
