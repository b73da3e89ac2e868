#include "formats/io/text_values.hpp"

#include <algorithm>

#include "formats/io/parse_value.hpp"
#include "formats/io/quote.hpp"

namespace sptile::formats {

bool TextValues::add(std::string_view word, TextLines& lines) {
  double value = 0;
  if (!parse_real(word, value)) return false;
  values_.push_back(value);
  const std::size_t digits = word.starts_with('-') || word.starts_with('+') ? 1 : 0;
  const bool integer = word.find_first_not_of("0123456789", digits) == word.npos;
  integers_ = integers_ && integer;
  const auto loss = text_loss(word, value, integers_);
  if (!loss) return true;
  ValueLoss& counts = *loss == Loss::inexact ? integer_loss_ : loss_;
  counts.add(*loss);
  if (!counts.first)
    counts.first = lines.bad(describe_loss(*loss, quoted(word), DType::f64)).value();
  return true;
}

void TextValues::give(SparseArrays& arrays, ValueLoss& loss) {
  arrays.values = Array(DType::f64, static_cast<std::int64_t>(values_.size()));
  std::copy(values_.begin(), values_.end(), arrays.values.as<double>().begin());
  arrays.integers = integers_;
  loss += loss_;
  if (integers_) loss += integer_loss_;
  values_ = {};
}

}  // namespace sptile::formats
