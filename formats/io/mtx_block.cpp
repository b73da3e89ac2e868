#include "formats/io/mtx_block.hpp"

#include <cmath>

#include "formats/io/digits.hpp"
#include "formats/io/line_blocks.hpp"
#include "formats/io/mtx_header.hpp"
#include "formats/io/mtx_line.hpp"
#include "formats/io/parse_value.hpp"
#include "formats/io/words.hpp"
#include "formats/value_types.hpp"

namespace sptile::formats {
namespace {

// The quick path. Each function reads one thing at p and returns where it ends, or nullptr when the line
// needs parse_line: because it is unusual, or wrong.

inline const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}

inline const char* quick_index(const char* p, std::int64_t limit, std::int32_t& index) {
  DigitChunk chunk = read_chunk(p);
  std::uint64_t number = chunk.value;
  p += chunk.count;
  if (chunk.count == 0) return nullptr;
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
    if (end == p || end - p > 15) return nullptr;  // 15 digits are exact in double
    const auto integer = static_cast<std::int64_t>(digits);
    if constexpr (std::is_same_v<T, float>)
      value = static_cast<float>(negative ? -integer : integer);
    else
      value = round_to<T>(static_cast<double>(negative ? -integer : integer));
    return end;
  }
};

template <class T>
struct ComplexValue {  // rare: always the full grammar
  using Type = T;
  static const char* read(const char*, T&) { return nullptr; }
};

struct PatternValue {
  using Type = NoValue;
};

template <class V>
constexpr bool kHasValue = !std::is_same_v<V, PatternValue>;

// Reads a line; returns the start of the next one.
template <class V>
inline const char* quick_line(const MtxHeader& header, const char* p, std::int32_t& row, std::int32_t& col,
                              typename V::Type* value) {
  p = skip_blanks(p);
  if (header.coordinate) {
    p = quick_index(p, header.rows, row);
    if (p == nullptr || !is_blank(*p)) return nullptr;
    p = quick_index(skip_blanks(p + 1), header.cols, col);
    if (p == nullptr) return nullptr;
    if constexpr (kHasValue<V>) {
      if (!is_blank(*p)) return nullptr;
      p = skip_blanks(p + 1);
    }
  }
  if constexpr (kHasValue<V>) {
    p = V::read(p, *value);
    if (p == nullptr) return nullptr;
  }
  p = skip_blanks(p);
  p += *p == '\r' ? 1 : 0;
  return *p == '\n' ? p + 1 : nullptr;
}

template <class T>
bool is_finite(T value) {
  return std::isfinite(widen(value));
}

void look_at_order(const MtxHeader& header, const EntryTarget& target, BlockSummary& summary) {
  for (std::int64_t i = 1; i < summary.entries; ++i) summary.sorted &= target.rows[i] >= target.rows[i - 1];
  if (header.symmetry == MtxSymmetry::general) return;
  for (std::int64_t i = 0; i < summary.entries; ++i) {
    summary.lower |= target.rows[i] > target.cols[i];
    summary.upper |= target.rows[i] < target.cols[i];
  }
}

template <class V>
BlockSummary parse_lines(const MtxHeader& header, DType dtype, std::string_view text,
                         const EntryTarget& target) {
  using T = typename V::Type;
  const bool skew = header.symmetry == MtxSymmetry::skew_symmetric && header.coordinate;
  auto* const values = static_cast<T*>(target.values);
  BlockSummary summary;
  std::int64_t n = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    std::int32_t row = 0, col = 0;
    T* const value = kHasValue<V> ? values + n : nullptr;
    const char* const next = quick_line<V>(header, rest.data(), row, col, value);
    if (next != nullptr && !(skew && row == col)) [[likely]] {
      rest.remove_prefix(static_cast<std::size_t>(next - rest.data()));
    } else {
      const std::string_view from_here = rest;
      LineContent content = parse_line(header, dtype, take_line(rest), value);
      if (content.kind == LineKind::skipped) continue;
      if (content.kind == LineKind::defect) {
        const std::string_view before = text.substr(0, text.size() - from_here.size());
        summary.defect = {count_lines(before), std::move(content.defect)};
        break;
      }
      row = content.row;
      col = content.col;
    }
    if (header.coordinate) {
      target.rows[n] = row;
      target.cols[n] = col;
    }
    if constexpr (kHasValue<V>) summary.nonfinite += is_finite(*value) ? 0 : 1;
    ++n;
  }
  summary.entries = n;
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
