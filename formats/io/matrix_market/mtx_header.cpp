#include "formats/io/matrix_market/mtx_header.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "formats/core/quote.hpp"
#include "formats/io/text/words.hpp"

namespace sptile::formats {
namespace {

constexpr std::int64_t kMaxRows = std::numeric_limits<std::int32_t>::max();

// Words of a banner, in the order of the format's specification; some writers use the synonyms.
template <class T>
struct Choice {
  std::string_view word;
  T value;
};
constexpr Choice<bool> kFormats[] = {{"coordinate", true}, {"array", false}};
constexpr Choice<MtxField> kFields[] = {
    {"real", MtxField::real},       {"double", MtxField::real},
    {"integer", MtxField::integer}, {"unsigned-integer", MtxField::integer},
    {"complex", MtxField::complex}, {"pattern", MtxField::pattern},
};
constexpr Choice<MtxSymmetry> kSymmetries[] = {
    {"general", MtxSymmetry::general},
    {"symmetric", MtxSymmetry::symmetric},
    {"skew-symmetric", MtxSymmetry::skew_symmetric},
    {"hermitian", MtxSymmetry::hermitian},
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

tl::unexpected<Error> bad(std::string message) { return fail(Errc::bad_input, std::move(message)); }

template <class T, std::size_t N>
Result<T> choose(std::string_view what, std::string_view word, const Choice<T> (&choices)[N]) {
  std::string known;
  for (const Choice<T>& choice : choices) {
    if (same_word(word, choice.word)) return choice.value;
    known += (known.empty() ? "" : ", ") + std::string(choice.word);
  }
  return bad("unknown " + std::string(what) + " " + quoted(word) + " in the banner; known: " + known);
}

// Explains why a first line is not a banner.
tl::unexpected<Error> no_banner(std::string_view line) {
  constexpr std::string_view kExample = "for example '%%MatrixMarket matrix coordinate real general'";
  if (line.starts_with("\xFF\xFE") || line.starts_with("\xFE\xFF"))
    return bad("the file is UTF-16 text; save it as ASCII or UTF-8 without BOM");
  return bad("expected a Matrix Market banner, got " + quoted(line) + "; " + std::string(kExample));
}

// Returns why a combination of banner words is invalid, if it is.
std::optional<std::string> contradiction(const MtxHeader& h) {
  if (!h.coordinate && h.field == MtxField::pattern)
    return "array with pattern; a pattern has no values and must be coordinate";
  if (h.symmetry == MtxSymmetry::skew_symmetric && h.field == MtxField::pattern)
    return "pattern with skew-symmetric; a pattern has no signs and must be general or symmetric";
  return std::nullopt;
}

// Parses an integer of a size line, clamped to the maximum int64.
std::optional<std::int64_t> size_number(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  if (word.empty()) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : word) {
    if (c < '0' || c > '9') return std::nullopt;
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
        __builtin_add_overflow(value, std::int64_t{c - '0'}, &value))
      value = std::numeric_limits<std::int64_t>::max() / 10;  // stays above every limit, whatever digits
                                                              // follow
  }
  return value;
}

// Returns the number of values in an array file.
std::int64_t array_entries(const MtxHeader& h) {
  const std::int64_t n = h.rows;
  switch (h.symmetry) {
    case MtxSymmetry::general:
      return h.rows * h.cols;
    case MtxSymmetry::skew_symmetric:
      return n == 0 ? 0 : n * (n - 1) / 2;
    default:
      return n * (n + 1) / 2;
  }
}

}  // namespace

bool is_banner(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  text = without_mark(text);
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kSpace));
  return same_word(word, "%%MatrixMarket") || same_word(word, "%MatrixMarket");
}

bool is_comment_or_blank(std::string_view line) {
  const auto first = std::find_if_not(line.begin(), line.end(), is_blank);
  return first == line.end() || *first == '%';
}

Result<bool> MtxHeaderReader::take(std::string_view line) {
  if (!has_banner_) {
    if (std::all_of(line.begin(), line.end(), is_blank)) return false;
    if (Status banner = take_banner(line); !banner) return tl::unexpected(banner.error());
    has_banner_ = true;
    return false;
  }
  if (is_comment_or_blank(line)) return false;
  if (Status size = take_size(line); !size) return tl::unexpected(size.error());
  return true;
}

std::string_view MtxHeaderReader::awaits() const {
  if (!has_banner_) return "a banner, like '%%MatrixMarket matrix coordinate real general'";
  return header_.coordinate ? "a size line: rows, columns, entries" : "a size line: rows, columns";
}

Status MtxHeaderReader::take_banner(std::string_view line) {
  if (line.find('\r') != line.npos)
    return bad("lines end with CR only; convert the file to LF (for example with tr '\\r' '\\n')");
  if (!is_banner(line)) return no_banner(line);
  const Words words = split_words(without_mark(line));
  if (words.count != 5)
    return bad("the banner has " + std::to_string(words.count) +
               " words; expected 5, as in '%%MatrixMarket matrix coordinate real general'");
  if (!same_word(words.word[1], "matrix"))
    return bad("object " + quoted(words.word[1]) + " in the banner; expected 'matrix'");

  const Result<bool> format = choose("format", words.word[2], kFormats);
  if (!format) return tl::unexpected(format.error());
  const Result<MtxField> field = choose("field", words.word[3], kFields);
  if (!field) return tl::unexpected(field.error());
  const Result<MtxSymmetry> symmetry = choose("symmetry", words.word[4], kSymmetries);
  if (!symmetry) return tl::unexpected(symmetry.error());
  header_ = {.coordinate = *format, .field = *field, .symmetry = *symmetry};
  if (const auto reason = contradiction(header_)) return bad("the banner says " + *reason);
  if (header_.field == MtxField::complex && !real_part_)
    return fail(Errc::unsupported, "the values are complex; --real-part reads the real parts");
  return {};
}

Status MtxHeaderReader::take_size(std::string_view line) {
  const std::size_t expected = header_.coordinate ? 3 : 2;
  const Words words = split_words(line);
  if (words.count != expected)
    return bad("the size line has " + std::to_string(words.count) + " words; " +
               (header_.coordinate ? "a coordinate file needs 3: rows, columns, entries"
                                   : "an array file needs 2: rows, columns"));
  std::int64_t* const targets[] = {&header_.rows, &header_.cols, &header_.entries};
  constexpr std::string_view kNames[] = {"rows", "columns", "entries"};
  for (std::size_t i = 0; i < expected; ++i) {
    const auto number = size_number(words.word[i]);
    if (!number)
      return bad("the number of " + std::string(kNames[i]) + " is " + quoted(words.word[i]) +
                 "; expected a non-negative integer");
    *targets[i] = *number;
    if (i < 2 && *number > kMaxRows)
      return fail(Errc::unsupported, std::string(words.word[i].substr(0, 40)) + " " + std::string(kNames[i]) +
                                         "; sptile supports up to 2147483647 (32-bit ids)");
  }
  if (header_.symmetry != MtxSymmetry::general && header_.rows != header_.cols)
    return bad("symmetric matrices must be square; this one has " + std::to_string(header_.rows) +
               " rows and " + std::to_string(header_.cols) + " columns");
  if (!header_.coordinate) header_.entries = array_entries(header_);
  return {};
}

std::int64_t min_bytes(const MtxHeader& header) {
  // Each number needs a digit and a blank or line end; the last line end may be missing.
  const std::int64_t numbers = (header.coordinate ? 2 : 0) + (header.field == MtxField::pattern   ? 0
                                                              : header.field == MtxField::complex ? 2
                                                                                                  : 1);
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(header.entries, 2 * numbers, &bytes)) return -1;
  return std::max<std::int64_t>(0, bytes - 1);
}

}  // namespace sptile::formats
