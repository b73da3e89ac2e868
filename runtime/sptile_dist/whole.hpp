// A matrix that was divided, put together again: for one device, where that is faster.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sptile.hpp"

namespace sptile {
inline namespace v1 {
namespace dist {
namespace detail {

inline std::string path_of_part(const std::string& folder, std::int64_t rank) {
  char name[32];
  std::snprintf(name, sizeof name, "/part-%04lld.h5", static_cast<long long>(rank));
  return folder + name;
}

/// The rows of all parts in the order of the whole matrix, with values of the type that parts have.
class WholeMatrix {
 public:
  WholeMatrix(const std::string& folder, std::int64_t parts) {
    std::vector<Piece> pieces;
    for (std::int64_t p = 0; p < parts; ++p) pieces.emplace_back(path_of_part(folder, p));
    type_ = pieces.front().local.type();
    row_ptr_.resize(static_cast<std::size_t>(pieces.front().part.rows()) + 1);
    for (const Piece& piece : pieces)
      piece.each_row([&](std::size_t row, const auto& entries) {
        row_ptr_[row + 1] = static_cast<std::int64_t>(entries.size());
      });
    for (std::size_t row = 1; row < row_ptr_.size(); ++row) row_ptr_[row] += row_ptr_[row - 1];
    col_idx_.resize(static_cast<std::size_t>(row_ptr_.back()));
    const std::size_t bytes = bytes_of(type_);
    values_.resize(col_idx_.size() * bytes);
    for (const Piece& piece : pieces)
      piece.each_row([&](std::size_t row, const auto& entries) {
        auto at = static_cast<std::size_t>(row_ptr_[row]);
        for (const auto& [column, value] : entries) {
          col_idx_[at] = column;
          if (bytes > 0) std::memcpy(&values_[at * bytes], value, bytes);
          ++at;
        }
      });
  }

  /// Borrows the arrays.
  [[nodiscard]] CsrMatrix csr() const {
    const auto rows = static_cast<std::int64_t>(row_ptr_.size()) - 1;
    const Values values(type_, values_.data(), col_idx_.size());
    return {rows, rows, row_ptr_, col_idx_, type_ == Type::none ? Values() : values};
  }

 private:
  /// Of a value of a type that values have; 0 for those of patterns.
  static std::size_t bytes_of(Type type) {
    return type == Type::none ? 0 : type == Type::f64 ? 8 : type == Type::f32 ? 4 : 2;
  }

  using Entry = std::pair<std::int32_t, const std::byte*>;  // column, value

  struct Piece {
    explicit Piece(const std::string& path)
        : part(path), local(part), halo(part, "halo"), of_local(local.csr()), of_halo(halo.csr()) {}

    /// Calls take(row of the whole, its entries by column).
    template <class Take>
    void each_row(const Take& take) const {
      std::vector<Entry> entries;
      for (std::size_t i = 0; i < part.old_ids().size(); ++i) {
        entries.clear();
        append(of_local, part.old_ids(), i, entries);
        append(of_halo, part.halo_ids(), i, entries);
        std::sort(entries.begin(), entries.end(),
                  [](const Entry& x, const Entry& y) { return x.first < y.first; });
        take(static_cast<std::size_t>(part.old_ids()[i]), entries);
      }
    }

    static void append(const CsrMatrix& a, std::span<const std::int32_t> ids, std::size_t row,
                       std::vector<Entry>& entries) {
      const auto* const values = static_cast<const std::byte*>(a.values.data);
      const std::size_t bytes = bytes_of(a.values.type);
      for (auto e = static_cast<std::size_t>(a.row_ptr[row]);
           e < static_cast<std::size_t>(a.row_ptr[row + 1]); ++e)
        entries.emplace_back(ids[static_cast<std::size_t>(a.col_idx[e])],
                             values == nullptr ? nullptr : values + e * bytes);
    }

    Part part;
    Matrix local, halo;
    CsrMatrix of_local, of_halo;
  };

  Type type_ = Type::none;
  std::vector<std::int64_t> row_ptr_;
  std::vector<std::int32_t> col_idx_;
  std::vector<std::byte> values_;
};

}  // namespace detail
}  // namespace dist
}  // namespace v1
}  // namespace sptile
