#include "tools/stats/matrix_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "formats/core/csr.hpp"
#include "formats/core/value_types.hpp"

namespace sptile::tools {
namespace {

using formats::CsrView;

// Position of an entry, or the end of a row.
struct Cursor {
  const CsrView& a;
  std::int64_t at, end;

  Cursor(const CsrView& matrix, std::int64_t row) : a(matrix), at(0), end(0) {
    if (row >= matrix.rows) return;
    at = matrix.row_ptr[static_cast<std::size_t>(row)];
    end = matrix.row_ptr[static_cast<std::size_t>(row) + 1];
  }
  [[nodiscard]] bool done() const { return at == end; }
  [[nodiscard]] std::int64_t column() const {
    return done() ? a.cols : a.col_idx[static_cast<std::size_t>(at)];
  }
  [[nodiscard]] const std::byte* value() const {
    return static_cast<const std::byte*>(a.values.data) +
           static_cast<std::size_t>(at) * size_of(a.values.dtype);
  }
};

std::string value_text(const CsrView& a, std::int64_t at) {
  return formats::visit_value_type(a.values.dtype, [&](auto type) {
    using Type = typename decltype(type)::type;
    const auto value = formats::widen(a.values.as<Type>()[static_cast<std::size_t>(at)]);
    return sizeof(Type) < sizeof(double) ? fmt::format("{}", static_cast<float>(value))
                                         : fmt::format("{}", value);
  });
}

std::string place(std::int64_t row, std::int64_t column) {
  return fmt::format("first difference at row {}, column {}: ", row + 1, column + 1);
}

std::string only_in(std::int64_t row, const Cursor& entry, const std::string& name) {
  return place(row, entry.column()) + fmt::format("only {} has an entry", name);
}

// Returns the first difference in row `row`; empty if there is none.
std::string differ_in_row(const CsrView& a, const std::string& a_name, const CsrView& b,
                          const std::string& b_name, std::int64_t row) {
  const bool with_values = a.values.dtype == b.values.dtype && !a.is_pattern();
  Cursor x(a, row), y(b, row);
  for (; !x.done() || !y.done(); ++x.at, ++y.at) {
    if (y.done() || (!x.done() && x.column() < y.column())) return only_in(row, x, a_name);
    if (x.done() || y.column() < x.column()) return only_in(row, y, b_name);
    if (with_values && std::memcmp(x.value(), y.value(), size_of(a.values.dtype)) != 0)
      return place(row, x.column()) +
             fmt::format("{} in {}, {} in {}", value_text(a, x.at), a_name, value_text(b, y.at), b_name);
  }
  return {};
}

std::string size_text(const CsrView& a, const std::string& name) {
  return fmt::format("{} is {} x {} with {} {}", name, a.rows, a.cols, a.nnz(),
                     a.is_pattern() ? "entries without values" : "entries");
}

}  // namespace

std::optional<std::string> find_difference(const CsrView& a, const std::string& a_name, const CsrView& b,
                                           const std::string& b_name) {
  if (formats::identical(a, b)) return std::nullopt;
  std::string text;
  if (a.rows != b.rows || a.cols != b.cols || a.nnz() != b.nnz() || a.is_pattern() != b.is_pattern())
    text = size_text(a, a_name) + ", " + size_text(b, b_name);
  std::string first;
  for (std::int64_t row = 0; row < std::max(a.rows, b.rows) && first.empty(); ++row)
    first = differ_in_row(a, a_name, b, b_name, row);
  return text + (text.empty() || first.empty() ? "" : "; ") + first;
}

}  // namespace sptile::tools
