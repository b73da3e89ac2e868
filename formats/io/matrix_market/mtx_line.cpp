#include "formats/io/matrix_market/mtx_line.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "formats/core/quote.hpp"
#include "formats/core/value_types.hpp"
#include "formats/io/matrix_market/mtx_header.hpp"
#include "formats/io/text/parse_value.hpp"
#include "formats/io/text/words.hpp"

namespace sptile::formats {
namespace {

LineContent defect(std::string message) { return {LineKind::defect, 0, 0, std::move(message)}; }

std::size_t words_per_entry(const MtxHeader& header) {
  const std::size_t indices = header.coordinate ? 2 : 0;
  if (header.field == MtxField::pattern) return indices;
  return indices + (header.field == MtxField::complex ? 2 : 1);
}

std::string entry_shape(const MtxHeader& header) {
  std::string shape = header.coordinate ? "row, column" : "";
  if (header.field == MtxField::pattern) return shape;
  shape += shape.empty() ? "" : ", ";
  return shape + (header.field == MtxField::complex ? "real part, imaginary part" : "value");
}

std::optional<std::string> control_byte(std::string_view line) {
  const auto found = std::find_if(line.begin(), line.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
  if (found == line.end()) return std::nullopt;
  return "control byte " + quoted({found, 1}) + " in the line; the file is damaged or is not text";
}

// Parses an index from 1 to `limit`; returns what is wrong otherwise.
std::optional<std::string> parse_index(std::string_view what, std::string_view word, std::int64_t limit,
                                       std::int32_t& index) {
  const std::string_view digits = word.starts_with('+') ? word.substr(1) : word;
  const bool whole = !digits.empty() && std::all_of(digits.begin() + (word[0] == '-' ? 1 : 0), digits.end(),
                                                    [](char c) { return c >= '0' && c <= '9'; });
  const std::string name(what);
  if (!whole || word == "-") return name + " index " + quoted(word) + " is not an integer";
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc() && number >= 1 && number <= limit) {
    index = static_cast<std::int32_t>(number - 1);
    return std::nullopt;
  }
  const std::string shown(word.substr(0, 40));
  if (limit == 0) return name + " index " + shown + "; the matrix has no " + name + "s";
  return name + " index " + shown + "; " + name + "s are 1 to " + std::to_string(limit);
}

// Explains a word that other programs or readers would take for a number.
std::string value_hint(std::string_view word, MtxField field) {
  double real = 0;
  if (field == MtxField::integer) {
    if (parse_real(word, real)) return "the field is integer; expected a 64-bit integer";
    return "expected an integer";
  }
  const std::size_t number = word.find_first_not_of("+-.0123456789");  // end of the part that looks like a
                                                                       // number
  const char after = number == 0 || number == word.npos ? '\0' : word[number];
  if (after == ',') return "use a decimal point, not a comma";
  if (after == 'x' || after == 'X') return "hexadecimal numbers are not part of the format";
  if (std::string_view("dDqQ").find(after) != std::string_view::npos) return "use E for exponents";
  return "expected a number such as -1.5E3";
}

template <class T>
std::optional<std::string> parse_values(const MtxHeader& header, const std::string_view* word, T* value) {
  if (header.field == MtxField::pattern) return std::nullopt;
  const bool is_integer = header.field == MtxField::integer;
  const auto complain = [&](std::string_view culprit) {
    return "value " + quoted(culprit) + " is not " + (is_integer ? "an integer" : "a number") + "; " +
           value_hint(culprit, header.field);
  };
  if (!(is_integer ? parse_integer(word[0], *value) : parse_real(word[0], *value))) return complain(word[0]);
  T imaginary_part{};
  if (header.field == MtxField::complex && !parse_real(word[1], imaginary_part)) return complain(word[1]);
  return std::nullopt;
}

std::optional<std::string> parse_indices(const MtxHeader& header, const Words& words, LineContent& entry) {
  if (auto wrong = parse_index("row", words.word[0], header.rows, entry.row)) return wrong;
  return parse_index("column", words.word[1], header.cols, entry.col);
}

}  // namespace

LineContent parse_line(const MtxHeader& header, DType dtype, std::string_view line, void* value) {
  if (is_comment_or_blank(line)) return {};
  if (const auto damaged = control_byte(line)) return defect(*damaged);
  const Words words = split_words(line);
  if (words.count != words_per_entry(header))
    return defect(std::to_string(words.count) + (words.count == 1 ? " word" : " words") + "; expected " +
                  entry_shape(header));
  LineContent entry{LineKind::entry, 0, 0, {}};
  if (header.coordinate)
    if (const auto wrong = parse_indices(header, words, entry)) return defect(*wrong);
  if (header.field == MtxField::pattern) return entry;
  const bool zero_expected =
      header.coordinate && header.symmetry == MtxSymmetry::skew_symmetric && entry.row == entry.col;
  const auto wrong = visit_value_type(dtype, [&](auto type) -> std::optional<std::string> {
    using T = typename decltype(type)::type;
    T& number = *static_cast<T*>(value);
    if (auto bad = parse_values(header, &words.word[header.coordinate ? 2 : 0], &number)) return bad;
    if (!zero_expected || widen(number) == 0) return std::nullopt;
    return "value " + quoted(words.word[2]) + " on the diagonal of a skew-symmetric matrix; it must be 0";
  });
  return wrong ? defect(*wrong) : entry;
}

}  // namespace sptile::formats
