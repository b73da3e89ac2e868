// Counts losses of values in text without a declared value type.
#pragma once

#include <string_view>

#include "formats/core/quote.hpp"
#include "formats/core/value_loss.hpp"
#include "formats/io/text/parse_value.hpp"

namespace sptile::formats {

/// Inspects words that were read as f64. They count as integers if all of them are written as integers.
class TextLoss {
 public:
  /// Adds a word and the value that it was read as; where() returns its location.
  template <class Where>
  void look(std::string_view word, double value, const Where& where) {
    const std::size_t digits = word.starts_with('-') || word.starts_with('+') ? 1 : 0;
    integers_ = integers_ && word.find_first_not_of("0123456789", digits) == word.npos;
    const auto loss = text_loss(word, value, integers_);
    if (!loss) return;
    ValueLoss& counts = *loss == Loss::inexact ? integer_loss_ : loss_;
    counts.add(*loss);
    if (!counts.first)
      counts.first = Error{Errc::bad_input, describe_loss(*loss, quoted(word), DType::f64), where()};
  }

  [[nodiscard]] bool integers() const { return integers_; }
  /// Returns the values that f64 cannot represent.
  [[nodiscard]] ValueLoss loss() const {
    ValueLoss all = loss_;
    if (integers_) all += integer_loss_;
    return all;
  }

 private:
  ValueLoss loss_;          // losses of real numbers
  ValueLoss integer_loss_;  // losses of integers, counted if all values are integers
  bool integers_ = true;
};

}  // namespace sptile::formats
