#include "formats/io/npz/npy_header.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "formats/core/quote.hpp"

namespace sptile::formats {
namespace {

// Parser of Python dictionary literals.
class Literal {
 public:
  explicit Literal(std::string_view text) : text_(text) {}

  bool take(char expected) {
    skip_blanks();
    if (text_.empty() || text_.front() != expected) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool take_word(std::string_view word) {
    skip_blanks();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  bool take_string(std::string& string) {
    skip_blanks();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) return false;
    const std::size_t end = text_.find(text_.front(), 1);
    if (end == text_.npos) return false;
    string = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return true;
  }

  bool take_number(std::int64_t& number) {
    skip_blanks();
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    take('L');  // written by Python 2
    return true;
  }

  [[nodiscard]] bool ended() {
    skip_blanks();
    return text_.empty();
  }

 private:
  void skip_blanks() { text_.remove_prefix(std::min(text_.find_first_not_of(" \n\t"), text_.size())); }
  std::string_view text_;
};

bool take_shape(Literal& literal, std::vector<std::int64_t>& shape) {
  constexpr std::size_t kMaxDimensions = 32;
  if (!literal.take('(')) return false;
  while (!literal.take(')')) {
    if (shape.size() == kMaxDimensions || !literal.take_number(shape.emplace_back())) return false;
    if (literal.take(',')) continue;
    return literal.take(')');
  }
  return true;
}

// Parses the value of a known key; returns false if it is invalid.
bool take_value(Literal& literal, const std::string& key, NpyHeader& header) {
  if (key == "descr") return literal.take_string(header.descr);
  if (key == "shape") return take_shape(literal, header.shape);
  if (key != "fortran_order") return false;
  header.columns_first = literal.take_word("True");
  return header.columns_first || literal.take_word("False");
}

bool take_dictionary(Literal& literal, NpyHeader& header) {
  std::vector<std::string> keys;
  if (!literal.take('{')) return false;
  while (!literal.take('}')) {
    std::string& key = keys.emplace_back();
    if (keys.size() > 3 || !literal.take_string(key) || !literal.take(':')) return false;
    if (!take_value(literal, key, header)) return false;
    if (!literal.take(',') && !literal.take('}')) return false;
    if (literal.ended()) break;
  }
  std::sort(keys.begin(), keys.end());
  return literal.ended() && keys == std::vector<std::string>{"descr", "fortran_order", "shape"};
}

struct KindRow {
  char letter;
  NumberKind kind;
  std::string_view widths;  // valid widths in bytes, each between blanks
};
constexpr KindRow kKinds[] = {{'b', NumberKind::boolean, " 1 "},
                              {'i', NumberKind::integer, " 1 2 4 8 "},
                              {'u', NumberKind::natural, " 1 2 4 8 "},
                              {'f', NumberKind::real, " 2 4 8 "},
                              {'c', NumberKind::complex, " 8 16 "}};

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view dictionary) {
  NpyHeader header;
  if (Literal literal(dictionary); !take_dictionary(literal, header)) {
    if (dictionary.find("[(") != dictionary.npos)
      return fail(Errc::unsupported, "its elements are structures; expected numbers");
    return fail(Errc::bad_input, "not a .npy header: " + quoted(dictionary));
  }
  for (const std::int64_t extent : header.shape) {
    if (extent < 0 || (extent > 0 && header.count > std::numeric_limits<std::int64_t>::max() / 64 / extent))
      return fail(Errc::bad_input, "the header has an impossible shape: " + quoted(dictionary));
    header.count *= extent;
  }
  if (header.descr.ends_with('O'))
    return fail(Errc::unsupported,
                "contains pickled Python objects, which can run code when loaded; save numbers instead");
  return header;
}

std::string npy_header(std::string_view descr, const std::vector<std::int64_t>& shape) {
  constexpr std::size_t kMultiple = 64;
  std::string dictionary = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t extent : shape) dictionary += std::to_string(extent) + ",";
  dictionary += "), }";
  const std::size_t start = kNpyStart + 2;
  dictionary.append(kMultiple - (start + dictionary.size() + 1) % kMultiple, ' ');
  dictionary += '\n';
  const auto length = static_cast<std::uint16_t>(dictionary.size());
  std::string header(kNpyMagic);
  header += {'\1', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return header + dictionary;
}

Result<NumberType> number_type(std::string_view descr) {
  const auto refuse = [&] {
    return fail(Errc::unsupported, "has elements of type " + quoted(descr) +
                                       "; sptile reads bool, integers, f16, f32, f64 and complex numbers");
  };
  if (descr.size() < 3 || std::string_view("<>|=").find(descr[0]) == std::string_view::npos) return refuse();
  const auto* const row = std::find_if(std::begin(kKinds), std::end(kKinds),
                                       [=](const KindRow& r) { return r.letter == descr[1]; });
  const std::string width = " " + std::string(descr.substr(2)) + " ";
  if (row == std::end(kKinds) || row->widths.find(width) == std::string_view::npos) return refuse();
  const bool wide = descr.size() > 3;  // a width of 16 bytes
  return NumberType{row->kind, wide ? 16 : descr[2] - '0', descr[0] == '>'};
}

}  // namespace sptile::formats
