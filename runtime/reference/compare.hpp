// What is done with the numbers of a reference: they are written, or compared with those of a kernel.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "runtime/reference/element.hpp"

namespace sptile::runtime {

/// One element of a result, and what its rounding errors are proportional to.
struct ReferenceNumber {
  double value = 0, scale = 0;
};

/// Takes element `at` of a result of a type.
using ResultSink = std::function<void(void* data, DType type, std::int64_t at, const ReferenceNumber&)>;

inline void write_number(void* data, DType type, std::int64_t at, const ReferenceNumber& number) {
  if (data != nullptr) write_element(type, data, at, number.value);
}

/// Remembers the largest element_error.
class WorstError {
 public:
  [[nodiscard]] ResultSink sink() {
    return [this](const void* data, DType type, std::int64_t at, const ReferenceNumber& number) {
      if (data != nullptr)
        worst_ =
            std::max(worst_, element_error(type, read_element(type, data, at), number.value, number.scale));
    };
  }
  [[nodiscard]] double worst() const { return worst_; }

 private:
  double worst_ = 0;
};

}  // namespace sptile::runtime
