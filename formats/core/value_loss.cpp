#include "formats/core/value_loss.hpp"

namespace sptile::formats {

void LossCounts::add(Loss loss, std::int64_t count) {
  (loss == Loss::overflow ? overflowed : loss == Loss::underflow ? underflowed : inexact) += count;
}

LossCounts& LossCounts::operator+=(const LossCounts& other) {
  overflowed += other.overflowed, underflowed += other.underflowed, inexact += other.inexact;
  return *this;
}

ValueLoss& ValueLoss::operator+=(const ValueLoss& later) {
  LossCounts::operator+=(later);
  if (!first) first = later.first;
  return *this;
}

std::string describe_loss(Loss loss, std::string_view value, DType narrow) {
  const std::string type(name_of(narrow)), text(value);
  if (loss == Loss::inexact) return "integer " + text + " is not exact in " + type;
  return "value " + text + " is too " + (loss == Loss::overflow ? "large" : "small") + " for " + type;
}

}  // namespace sptile::formats
