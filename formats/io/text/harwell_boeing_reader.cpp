#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "formats/core/quote.hpp"
#include "formats/io/entries/growing_array.hpp"
#include "formats/io/entries/sparse_arrays.hpp"
#include "formats/io/text/harwell_boeing.hpp"
#include "formats/io/text/parse_value.hpp"
#include "formats/io/text/text_lines.hpp"
#include "formats/io/text/words.hpp"

namespace sptile::formats {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

/// Fields of equal width: "(1P,5E16.8)" or "(16I5)".
struct FieldFormat {
  std::int64_t scale = 0;  ///< P: numbers without an exponent are 10^scale times their value
  std::int64_t count = 1;  ///< fields per line
  char letter = 'I';       ///< I; E, D, F or G
  std::int64_t width = 0;
  std::int64_t decimals = 0;  ///< decimals of numbers written without a point
};

std::optional<FieldFormat> parse_format(std::string_view written) {
  std::string text;
  for (const char c : written)
    if (!is_blank(c)) text += upper(c);
  std::string_view left = text;
  const auto take = [&](char c) {
    const bool there = left.starts_with(c);
    left.remove_prefix(there ? 1 : 0);
    return there;
  };
  const auto take_number = [&](std::int64_t& number) {
    constexpr std::int64_t kMax = 999;  // maximum line width
    const auto [end, error] = std::from_chars(left.data(), left.data() + left.size(), number);
    if (error != std::errc() || number < -kMax || number > kMax) return false;
    left.remove_prefix(static_cast<std::size_t>(end - left.data()));
    return true;
  };
  FieldFormat format;
  if (!take('(')) return std::nullopt;
  bool counted = take_number(format.count);
  if (counted && take('P')) {
    format.scale = std::exchange(format.count, 1);
    take(',');
    counted = take_number(format.count);
  }
  if (counted && take('(')) return std::nullopt;  // nested
  if (left.empty() || std::string_view("IEDFG").find(left.front()) == std::string_view::npos)
    return std::nullopt;
  format.letter = left.front();
  left.remove_prefix(1);
  if (!take_number(format.width)) return std::nullopt;
  if (take('.') && !take_number(format.decimals)) return std::nullopt;
  std::int64_t exponent = 0;
  if (take('E') && !take_number(exponent)) return std::nullopt;
  const bool right =
      take(')') && left.empty() && format.count > 0 && format.width > 0 && format.decimals >= 0;
  return right ? std::optional(format) : std::nullopt;
}

/// Converts a field to C syntax with Fortran's rules: blanks are ignored, D means E, and the exponent letter
/// ("1.5+3") and the point are optional.
std::string plain_number(std::string_view field, const FieldFormat& format) {
  std::string mantissa;
  std::size_t i = 0;
  for (; i < field.size(); ++i) {
    const char c = upper(field[i]);
    if (is_blank(c)) continue;
    const bool sign = (c == '+' || c == '-') && !mantissa.empty();
    if (sign || c == 'E' || c == 'D' || c == 'Q') break;
    mantissa += c;
  }
  const bool has_exponent = i < field.size();
  if (mantissa.find_first_of("N") != mantissa.npos) return std::string(trimmed(field));  // NaN, INF
  std::string digits;
  for (; i < field.size(); ++i)
    if (field[i] == '-' || (field[i] >= '0' && field[i] <= '9')) digits += field[i];
  std::int64_t exponent = 0;
  if (has_exponent && !parse_whole(digits, exponent)) return {};
  if (mantissa.find('.') == mantissa.npos) exponent -= format.decimals;
  if (!has_exponent) exponent -= format.scale;
  return exponent == 0 || mantissa.empty() ? mantissa : mantissa + "e" + std::to_string(exponent);
}

struct Header {
  std::int64_t pointer_lines = 0, index_lines = 0, value_lines = 0, rhs_lines = 0;
  char field = 'R', symmetry = 'U', storage = 'A';
  std::int64_t rows = 0, cols = 0, entries = 0;
  FieldFormat pointers, indices, values;
};

class HarwellBoeingReader {
 public:
  HarwellBoeingReader(TextLines& lines, bool real_part) : lines_(lines), real_part_(real_part) {}

  Result<ReadMatrix> read() {
    for (const auto step : {&HarwellBoeingReader::read_header, &HarwellBoeingReader::read_pointers,
                            &HarwellBoeingReader::read_indices, &HarwellBoeingReader::read_values})
      if (Status s = (this->*step)(); !s) return tl::unexpected(std::move(s.error()));
    return finish();
  }

 private:
  [[nodiscard]] tl::unexpected<Error> unsupported(std::string message) {
    Error error = lines_.bad(std::move(message)).value();
    error.code = Errc::unsupported;
    return tl::unexpected(std::move(error));
  }

  Result<std::string_view> next_line(std::string_view what) {
    const auto line = lines_.next();
    if (!line) return tl::unexpected(line.error());
    if (!*line)
      return lines_.bad("the file ends before " + std::string(what) + "; the file may be truncated");
    return **line;
  }

  // Parses the numbers of a header line from column `start` on; missing ones are 0.
  Status take_numbers(std::string_view line, std::size_t start,
                      std::initializer_list<std::int64_t*> numbers) {
    const Words words = split_words(line.substr(std::min(start, line.size())));
    std::size_t i = 0;
    for (std::int64_t* number : numbers) {
      if (i >= words.count) break;
      if (!parse_whole(words.word[i], *number) || *number < 0)
        return lines_.bad(quoted(words.word[i]) +
                          " in the header is not a non-negative integer; expected a Harwell-Boeing file");
      ++i;
    }
    return {};
  }

  Status read_header() {
    std::int64_t total = 0, elemental = 0;
    auto line = next_line("its title");
    if (line) line = next_line("the counts of lines in its header");
    if (!line) return tl::unexpected(line.error());
    if (split_words(*line).count < 4)
      return lines_.bad("expected four line counts: total, pointers, indices and values");
    Status s = take_numbers(
        *line, 0,
        {&total, &header_.pointer_lines, &header_.index_lines, &header_.value_lines, &header_.rhs_lines});
    if (!s) return s;
    line = next_line("its type, rows, columns and entries");
    if (!line) return tl::unexpected(line.error());
    const std::string_view type = trimmed(line->substr(0, 3));
    if (type.size() != 3 || split_words(*line).count < 4)
      return lines_.bad("expected a three-letter type, rows, columns and entries of a Harwell-Boeing file");
    header_.field = upper(type[0]), header_.symmetry = upper(type[1]), header_.storage = upper(type[2]);
    s = take_numbers(*line, 3, {&header_.rows, &header_.cols, &header_.entries, &elemental});
    if (s) s = check_type(std::string(type));
    if (s) s = read_formats();
    if (!s || header_.rhs_lines == 0) return s;
    return next_line("the line about right-hand sides").map([](auto) {});
  }

  Status check_type(const std::string& type) {
    if (header_.storage == 'E')
      return unsupported("a matrix of unassembled elements (" + type + "); sptile reads assembled ones");
    const bool known = std::string_view("RCPI").find(header_.field) != std::string_view::npos &&
                       std::string_view("USHZR").find(header_.symmetry) != std::string_view::npos &&
                       header_.storage == 'A';
    if (!known)
      return unsupported("type " + quoted(type) +
                         "; sptile reads R, C, P or I, then U, S, H, Z or R, then A (assembled)");
    if (header_.field == 'C' && !real_part_)
      return unsupported("the values are complex; --real-part reads the real parts");
    arrays_.rows = header_.rows, arrays_.cols = header_.cols;
    Status s = check_matrix_shape(header_.rows, header_.cols);
    if (!s) return fail(s.error().code, s.error().message, lines_.name());
    if (is_triangle() && header_.rows != header_.cols)
      return lines_.bad("type " + quoted(type) + " with " + std::to_string(header_.rows) + " rows and " +
                        std::to_string(header_.cols) + " columns; it has one triangle of a square matrix");
    return {};
  }

  [[nodiscard]] bool is_triangle() const { return header_.symmetry != 'U' && header_.symmetry != 'R'; }
  [[nodiscard]] bool has_values() const { return header_.field != 'P' && header_.value_lines > 0; }

  Status read_formats() {
    constexpr std::size_t kIndexWidth = 16, kValueWidth = 20;
    const auto line = next_line("its formats");
    if (!line) return tl::unexpected(line.error());
    std::string_view left = *line;
    const auto take = [&](std::size_t width, bool required, bool whole, FieldFormat& into) -> Status {
      const std::string_view text = trimmed(left.substr(0, width));
      left.remove_prefix(std::min(width, left.size()));
      if (!required) return {};
      const auto format = parse_format(text);
      if (!format || (whole && format->letter != 'I'))
        return lines_.bad("format " + quoted(text) + "; expected a format such as " +
                          (whole ? "(16I5)" : "(5E16.8)"));
      into = *format;
      return {};
    };
    Status s = take(kIndexWidth, true, true, header_.pointers);
    if (s) s = take(kIndexWidth, true, true, header_.indices);
    return s ? take(kValueWidth, has_values(), false, header_.values) : s;
  }

  // Calls take(field) for `count` fields.
  template <class Take>
  Status each_field(std::int64_t count, const FieldFormat& format, std::string_view what, const Take& take) {
    const auto width = static_cast<std::size_t>(format.width);
    while (count > 0) {
      auto line = next_line(what);
      if (!line) return tl::unexpected(line.error());
      for (std::int64_t i = 0; i < format.count && count > 0; ++i, --count) {
        const std::string_view field = line->substr(0, width);
        if (trimmed(field).empty())
          return lines_.bad("the line ends before " + std::string(what) + " number " + std::to_string(i + 1) +
                            " of " + std::to_string(std::min(format.count, i + count)) + " in it");
        line->remove_prefix(field.size());
        if (Status s = take(field); !s) return s;
      }
    }
    return {};
  }

  // Converts 1-based integers of the file. The array grows with the text, because the header may promise any
  // count.
  template <class T>
  Status read_integers(std::int64_t count, const FieldFormat& format, std::string_view what, std::int64_t max,
                       Buffer<T>& into) {
    GrowingArray<T> numbers;
    Status s = each_field(count, format, what, [&](std::string_view field) -> Status {
      std::int64_t number = 0;
      if (!parse_whole(trimmed(field), number) || number < 1 || number > max)
        return lines_.bad(std::string(what) + " is " + quoted(trimmed(field)) +
                          "; expected an integer from 1 to " + std::to_string(max));
      numbers.push_back(static_cast<T>(number - 1));
      return {};
    });
    if (!s) return s;
    into = std::move(numbers).take();
    return {};
  }

  Status read_pointers() {
    return read_integers(header_.cols + 1, header_.pointers, "a column pointer", INT64_MAX, arrays_.pointers);
  }

  Status read_indices() {
    return read_integers(header_.entries, header_.indices, "a row index", header_.rows, arrays_.ids);
  }

  Status read_values() {
    if (!has_values()) return {};
    const bool complex = header_.field == 'C';
    if (header_.entries > INT64_MAX / 2) return lines_.bad("the number of entries is too large for any file");
    GrowingArray<double> values;
    bool imaginary = false;
    Status s = each_field(header_.entries * (complex ? 2 : 1), header_.values, "a value",
                          [&](std::string_view field) -> Status {
                            if (complex && std::exchange(imaginary, !imaginary)) return {};
                            return take_value(field, values);
                          });
    if (!s) return s;
    arrays_.values = Array(std::move(values).take());
    arrays_.integers = header_.field == 'I' || header_.values.letter == 'I';
    return {};
  }

  Status take_value(std::string_view field, GrowingArray<double>& values) {
    const std::string word = plain_number(field, header_.values);
    double value = 0;
    if (!parse_real(word, value)) return lines_.bad("value " + quoted(trimmed(field)) + " is not a number");
    values.push_back(value);
    const auto loss = text_loss(word, value, header_.field == 'I' || header_.values.letter == 'I');
    if (!loss) return {};
    loss_.add(*loss);
    if (!loss_.first)
      loss_.first = lines_.bad(describe_loss(*loss, quoted(trimmed(field)), DType::f64)).value();
    return {};
  }

  Result<ReadMatrix> finish() {
    const std::string name = lines_.name();
    arrays_.layout = ArrayLayout::csc;
    auto made = assemble(std::move(arrays_), "the column pointers, from 0,");
    if (!made) return fail(made.error().code, made.error().message, name);
    if (is_triangle()) {
      auto whole = mirror_triangle(made->csr, is_lower(made->csr), header_.symmetry == 'Z');
      if (!whole) return fail(whole.error().code, whole.error().message, name);
      made->csr = std::move(*whole);
    }
    made->loss += loss_;
    ReadMatrix matrix = to_read_matrix(std::move(*made));
    matrix.source_sha256 = lines_.input().finish_hash();
    if (header_.rhs_lines > 0) matrix.notes.emplace_back("ignored right-hand sides");
    return matrix;
  }

  // Returns whether the first off-diagonal entry is in the lower triangle.
  static bool is_lower(const Csr& a) {
    for (std::int64_t row = 0; row < a.rows; ++row)
      for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i)
        if (a.col_idx[i] != row) return a.col_idx[i] < row;
    return true;
  }

  TextLines& lines_;
  bool real_part_;
  Header header_;
  SparseArrays arrays_;
  ValueLoss loss_;
};

}  // namespace

Result<ReadMatrix> read_harwell_boeing(InputBytes input, bool real_part) {
  auto lines = TextLines::open(std::move(input));
  if (!lines) return tl::unexpected(std::move(lines.error()));
  return HarwellBoeingReader(*lines, real_part).read();
}

}  // namespace sptile::formats
