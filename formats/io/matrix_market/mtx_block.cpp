#include "formats/io/matrix_market/mtx_block.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "formats/core/quote.hpp"
#include "formats/core/value_types.hpp"
#include "formats/io/matrix_market/mtx_header.hpp"
#include "formats/io/matrix_market/mtx_line.hpp"
#include "formats/io/text/digits.hpp"
#include "formats/io/text/line_blocks.hpp"
#include "formats/io/text/parse_value.hpp"
#include "formats/io/text/words.hpp"

namespace sptile::formats {
namespace {

// Fast path. Each function parses one item at p and returns its end, or nullptr if the line is unusual or
// wrong and needs parse_line.

inline const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}

inline const char* quick_index(const char* p, std::int64_t limit, std::int32_t& index) {
  DigitChunk chunk = read_chunk(p);
  if (chunk.count == 0) [[unlikely]] {
    p = skip_blanks(p);
    chunk = read_chunk(p);
    if (chunk.count == 0) return nullptr;
  }
  std::uint64_t number = chunk.value;
  p += chunk.count;
  if (chunk.count == 8) {  // 2^31 - 1 has ten digits
    chunk = read_chunk(p);
    if (chunk.count > 2) return nullptr;
    if (chunk.count > 0) number = number * kPowersOfTen[static_cast<std::size_t>(chunk.count)] + chunk.value;
    p += chunk.count;
  }
  if (number - 1 >= static_cast<std::uint64_t>(limit)) return nullptr;
  index = static_cast<std::int32_t>(number - 1);
  return p;
}

template <class T>
struct RealValue {
  using Type = T;
  static const char* read(const char* p, T& value) {
    Decimal number;
    const char* const end = read_decimal(p, number);
    if (end == nullptr || !to_value(number, {p, static_cast<std::size_t>(end - p)}, value)) return nullptr;
    return end;
  }
};

template <class T>
struct IntegerValue {
  using Type = T;
  static const char* read(const char* p, T& value) {
    const bool negative = *p == '-';
    p += negative ? 1 : 0;
    std::uint64_t digits = 0;
    const char* const end = append_digits(p, digits);
    if (end == p || end - p > 15) return nullptr;  // up to 15 digits are exact in double
    const auto integer = static_cast<std::int64_t>(digits);
    if constexpr (std::is_same_v<T, float>)
      value = static_cast<float>(negative ? -integer : integer);
    else
      value = round_to<T>(static_cast<double>(negative ? -integer : integer));
    return end;
  }
};

template <class T>
struct ComplexValue {  // rare: always uses the full grammar
  using Type = T;
  static const char* read(const char*, T&) { return nullptr; }
};

// Smallest magnitude from which on T does not represent all integers.
template <class T>
constexpr double kFirstInexact = 0x1p53;
template <>
constexpr double kFirstInexact<float> = 0x1p24;
template <>
constexpr double kFirstInexact<Half> = 0x1p11;
template <>
constexpr double kFirstInexact<BFloat16> = 0x1p8;

struct PatternValue {
  using Type = NoValue;
};

template <class V>
constexpr bool kHasValue = !std::is_same_v<V, PatternValue>;

// Parses a line; returns the start of the next one. Optimized for single blanks; other lines are a little
// slower.
template <class V>
inline const char* quick_line(const MtxHeader& header, const char* p, std::int32_t& row, std::int32_t& col,
                              typename V::Type* value) {
  if (header.coordinate) {
    p = quick_index(p, header.rows, row);
    if (p == nullptr || !is_blank(*p)) return nullptr;
    p = quick_index(p + 1, header.cols, col);
    if (p == nullptr || (row == col && header.symmetry == MtxSymmetry::skew_symmetric)) return nullptr;
    if constexpr (kHasValue<V>) {
      if (!is_blank(*p)) return nullptr;
      ++p;
    }
  }
  if constexpr (kHasValue<V>) {
    p = V::read(skip_blanks(p), *value);
    if (p == nullptr) return nullptr;
  }
  if (*p != '\n') {
    p = skip_blanks(p);
    p += *p == '\r' ? 1 : 0;
    if (*p != '\n') return nullptr;
  }
  return p + 1;
}

// Returns the target of entries from number `entries` on.
template <class T>
EntryTarget advanced(EntryTarget target, std::int64_t entries) {
  if (target.rows != nullptr) target.rows += entries;
  if (target.cols != nullptr) target.cols += entries;
  if (target.values != nullptr) target.values = static_cast<T*>(target.values) + entries;
  return target;
}

void look_at_order(const MtxHeader& header, const EntryTarget& target, BlockSummary& summary) {
  for (std::int64_t i = 1; i < summary.entries; ++i) summary.sorted &= target.rows[i] >= target.rows[i - 1];
  if (header.symmetry == MtxSymmetry::general) return;
  for (std::int64_t i = 0; i < summary.entries; ++i) {
    summary.lower |= target.rows[i] > target.cols[i];
    summary.upper |= target.rows[i] < target.cols[i];
  }
}

// Parses complete lines. The state stays in registers unless a line needs the full grammar.
template <class V>
class LineParser {
  using T = typename V::Type;

 public:
  LineParser(const MtxHeader& header, DType dtype, std::string_view text, const EntryTarget& target)
      : header_(header),
        dtype_(dtype),
        text_(text),
        target_(target),
        largest_exact_(header.field == MtxField::integer ? kFirstInexact<T>
                                                         : std::numeric_limits<double>::infinity()),
        p_(text.data()),
        end_(text.data() + text.size()) {}

  [[nodiscard]] bool done() const { return p_ == end_; }

  void parse_one() {
    std::int32_t row = 0, col = 0;
    T* const value = kHasValue<V> ? static_cast<T*>(target_.values) + entries_ : nullptr;
    const char* const next = quick_line<V>(header_, p_, row, col, value);
    if (next != nullptr) [[likely]] {
      store(row, col);
      p_ = next;
    } else {
      parse_with_full_grammar(value);
    }
  }

  BlockSummary summary() {
    BlockSummary result;
    result.entries = entries_;
    result.nonfinite = nonfinite_;
    result.lost = lost_;
    result.loss = std::move(loss_);
    result.defect = std::move(defect_);
    return result;
  }

 private:
  // Stores the entry of the line at p_.
  void store(std::int32_t row, std::int32_t col) {
    if (header_.coordinate) {
      target_.rows[entries_] = row;
      target_.cols[entries_] = col;
    }
    if constexpr (kHasValue<V>) {
      const double value = widen(static_cast<T*>(target_.values)[entries_]), size = std::abs(value);
      if (!(size > 0 && size < largest_exact_)) [[unlikely]]
        note_unusual(row, col, value);
    }
    ++entries_;
  }

  // Counts the value of the line at p_ if it is not finite or if the type cannot represent the text.
  [[gnu::noinline]] void note_unusual(std::int32_t row, std::int32_t col, double value) {
    std::string_view rest(p_, static_cast<std::size_t>(end_ - p_));
    const std::string_view word = split_words(take_line(rest)).word[header_.coordinate ? 2 : 0];
    const auto loss = text_loss(word, value, header_.field == MtxField::integer);
    nonfinite_ += !std::isfinite(value);
    if (!loss) return;
    lost_.add(*loss);
    if (loss_) return;
    std::string message = describe_loss(*loss, quoted(word), dtype_);
    if (header_.coordinate)
      message += ", in row " + std::to_string(row + 1) + ", column " + std::to_string(col + 1);
    loss_ = {lines_before(), std::move(message)};
  }

  [[nodiscard]] std::int64_t lines_before() const {
    return count_lines(text_.substr(0, static_cast<std::size_t>(p_ - text_.data())));
  }

  [[gnu::noinline]] void parse_with_full_grammar(T* value) {
    std::string_view rest(p_, static_cast<std::size_t>(end_ - p_));
    LineContent content = parse_line(header_, dtype_, take_line(rest), value);
    if (content.kind == LineKind::defect) {
      defect_ = {lines_before(), std::move(content.defect)};
      p_ = end_;
      return;
    }
    if (content.kind == LineKind::entry) store(content.row, content.col);
    p_ = rest.data();
  }

  const MtxHeader header_;
  const DType dtype_;
  const std::string_view text_;
  const EntryTarget target_;
  const double largest_exact_;  // zeros and magnitudes from here on are compared with the text
  const char* p_;
  const char* const end_;
  std::int64_t entries_ = 0, nonfinite_ = 0;
  LossCounts lost_;
  std::optional<LineDefect> loss_, defect_;
};

// Moves the entries of the second half next to those of the first, which has fewer entries than lines if
// there are comments.
void close_gap(const EntryTarget& target, std::int64_t to, std::int64_t from, std::int64_t count,
               std::size_t width) {
  const auto move = [&](auto* array) { std::copy(array + from, array + from + count, array + to); };
  if (to == from) return;
  if (target.rows != nullptr) move(target.rows);
  if (target.cols != nullptr) move(target.cols);
  if (target.values == nullptr) return;
  auto* const bytes = static_cast<char*>(target.values);
  std::memmove(bytes + static_cast<std::size_t>(to) * width, bytes + static_cast<std::size_t>(from) * width,
               static_cast<std::size_t>(count) * width);
}

// A line cannot be parsed before the end of the previous one is known, which leaves execution units idle. Two
// lines, one from each half, are therefore parsed in turn.
template <class V>
BlockSummary parse_lines(const MtxHeader& header, DType dtype, std::string_view text,
                         const EntryTarget& target) {
  const std::size_t middle = text.find('\n', text.size() / 2) + 1;
  const std::string_view first_text = text.substr(0, middle), second_text = text.substr(middle);
  const std::int64_t first_lines = count_lines(first_text);
  LineParser<V> first(header, dtype, first_text, target);
  LineParser<V> second(header, dtype, second_text, advanced<typename V::Type>(target, first_lines));
  while (!first.done() && !second.done()) {
    first.parse_one();
    second.parse_one();
  }
  while (!first.done()) first.parse_one();
  BlockSummary summary = first.summary();
  if (!summary.defect) {
    while (!second.done()) second.parse_one();
    BlockSummary tail = second.summary();
    close_gap(target, summary.entries, first_lines, tail.entries, size_of(dtype));
    if (tail.defect) summary.defect = {first_lines + tail.defect->line, std::move(tail.defect->message)};
    summary.entries += tail.entries;
    summary.nonfinite += tail.nonfinite;
    summary.lost += tail.lost;
    if (!summary.loss && tail.loss)
      summary.loss = {first_lines + tail.loss->line, std::move(tail.loss->message)};
  }
  if (header.coordinate) look_at_order(header, target, summary);
  return summary;
}

template <template <class> class V>
BlockSummary parse_values(const MtxHeader& header, DType dtype, std::string_view text,
                          const EntryTarget& target) {
  return visit_value_type(dtype, [&](auto type) {
    return parse_lines<V<typename decltype(type)::type>>(header, dtype, text, target);
  });
}

}  // namespace

BlockSummary parse_block(const MtxHeader& header, DType dtype, std::string_view text,
                         const EntryTarget& target) {
  switch (header.field) {
    case MtxField::pattern:
      return parse_lines<PatternValue>(header, dtype, text, target);
    case MtxField::integer:
      return parse_values<IntegerValue>(header, dtype, text, target);
    case MtxField::complex:
      return parse_values<ComplexValue>(header, dtype, text, target);
    default:
      return parse_values<RealValue>(header, dtype, text, target);
  }
}

std::int64_t line_of_entry(std::string_view text, std::int64_t entry) {
  for (std::int64_t line = 0;; ++line)
    if (!is_comment_or_blank(take_line(text)) && entry-- == 0) return line;
}

}  // namespace sptile::formats
