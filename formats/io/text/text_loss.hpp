// Counts values lost in text whose value type is unknown.
#pragma once

#include <string_view>

#include "formats/core/quote.hpp"
#include "formats/core/value_loss.hpp"
#include "formats/io/text/parse_value.hpp"

namespace sptile::formats {

/// Looks at words that were read as f64. They are integers as long as all of them are written as such.
class TextLoss {
 public:
  /// Takes a word and the value that it was read as; where() names its place.
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
  /// What f64 cannot hold.
  [[nodiscard]] ValueLoss loss() const {
    ValueLoss all = loss_;
    if (integers_) all += integer_loss_;
    return all;
  }

 private:
  ValueLoss loss_;          // without integers
  ValueLoss integer_loss_;  // which counts where all are integers
  bool integers_ = true;
};

}  // namespace sptile::formats
