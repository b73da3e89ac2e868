// The entire matrix joined from its parts, for one device, if that is faster.
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

/// Contains the rows of all parts in the order of the entire matrix, with the value type of the parts.
class WholeMatrix {
 public:
  /// Reads the parts in a folder except `own`, the part of this process. Checks that all are of one partition
  /// and in order, and that each row has one owner; otherwise SPTILE_STATUS_BAD_INPUT names the file or row.
  WholeMatrix(const std::string& folder, const Part& own) {
    std::vector<Part> others;
    std::vector<Piece> pieces;
    others.reserve(static_cast<std::size_t>(own.parts()));  // pieces contain pointers to them
    for (std::int64_t p = 0; p < own.parts(); ++p) {
      const std::string path = path_of_part(folder, p);
      if (p != own.rank()) others.emplace_back(path);
      const Piece& piece = pieces.emplace_back(p == own.rank() ? own : others.back());
      check_belongs(piece, p, pieces.front(), own, path);
    }
    check_sums(pieces, own, folder);
    check_owners(pieces, own.rows(), folder);
    type_ = pieces.front().local.type();
    count(pieces, own.rows());
    fill(pieces);
  }

  /// Returns a view of the arrays.
  [[nodiscard]] CsrMatrix csr() const {
    const auto rows = static_cast<std::int64_t>(row_ptr_.size()) - 1;
    const Values values(type_, values_.data(), col_idx_.size());
    return {rows, rows, row_ptr_, col_idx_, type_ == Type::none ? Values() : values};
  }

 private:
  using Entry = std::pair<std::int32_t, const std::byte*>;  // column, value

  /// A part and the arrays of its matrices, with checked ids and offsets.
  struct Piece {
    explicit Piece(const Part& of)
        : part(&of), local(of), halo(of, "halo"), of_local(local.csr()), of_halo(halo.csr()) {}

    [[nodiscard]] std::int64_t entries() const {
      return std::ssize(of_local.col_idx) + std::ssize(of_halo.col_idx);
    }

    /// Calls take(row of the entire matrix, its entries sorted by column) for each row.
    template <class Take>
    void each_row(const Take& take) const {
      std::vector<Entry> entries;
      for (std::size_t i = 0; i < part->old_ids().size(); ++i) {
        entries.clear();
        append(of_local, part->old_ids(), i, entries);
        append(of_halo, part->halo_ids(), i, entries);
        std::sort(entries.begin(), entries.end(),
                  [](const Entry& x, const Entry& y) { return x.first < y.first; });
        take(static_cast<std::size_t>(part->old_ids()[i]), entries);
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

    const Part* part;
    Matrix local, halo;
    CsrMatrix of_local, of_halo;
  };

  /// Returns the size of a value in bytes; 0 for a pattern.
  static std::size_t bytes_of(Type type) {
    return type == Type::none ? 0 : type == Type::f64 ? 8 : type == Type::f32 ? 4 : 2;
  }

  static Exception bad(const std::string& where, const std::string& what) {
    return {SPTILE_STATUS_BAD_INPUT, where + ": " + what + "; partition the matrix again"};
  }

  static void check_belongs(const Piece& piece, std::int64_t place, const Piece& first, const Part& own,
                            const std::string& path) {
    const Part& part = *piece.part;
    if (part.id() != own.id() || part.parts() != own.parts() || part.rows() != own.rows() ||
        part.entries() != own.entries() || part.symmetric() != own.symmetric())
      throw bad(path,
                "belongs to a different partition from the part of process " + std::to_string(own.rank()));
    if (part.rank() != place)
      throw bad(path, "declares itself part " + std::to_string(part.rank()) + ", but is stored as part " +
                          std::to_string(place) + " of the directory");
    if (piece.local.type() != first.local.type()) throw bad(path, "has a different value type from part 0");
  }

  /// Checks that the rows and entries of the parts add up to those of the matrix. They are stored in files,
  /// so memory is allocated only for stored data.
  static void check_sums(const std::vector<Piece>& pieces, const Part& own, const std::string& folder) {
    std::int64_t rows = 0, entries = 0;
    for (const Piece& piece : pieces) {
      rows += piece.part->owned();
      entries += piece.entries();
    }
    if (rows != own.rows() || entries != own.entries())
      throw bad(folder, "the parts have " + std::to_string(rows) + " rows and " + std::to_string(entries) +
                            " entries, the matrix has " + std::to_string(own.rows()) + " and " +
                            std::to_string(own.entries()));
  }

  /// Checks that no row has two owners. The parts have `rows` rows in total, so each row then has exactly
  /// one.
  static void check_owners(const std::vector<Piece>& pieces, std::int64_t rows, const std::string& folder) {
    std::vector<bool> owned(static_cast<std::size_t>(rows));
    for (const Piece& piece : pieces)
      for (const std::int32_t id : piece.part->old_ids()) {
        if (owned[static_cast<std::size_t>(id)])
          throw bad(folder, "row " + std::to_string(id) + " belongs to two parts");
        owned[static_cast<std::size_t>(id)] = true;
      }
  }

  void count(const std::vector<Piece>& pieces, std::int64_t rows) {
    row_ptr_.resize(static_cast<std::size_t>(rows) + 1);
    for (const Piece& piece : pieces)
      piece.each_row([&](std::size_t row, const auto& entries) {
        row_ptr_[row + 1] = static_cast<std::int64_t>(entries.size());
      });
    for (std::size_t row = 1; row < row_ptr_.size(); ++row) row_ptr_[row] += row_ptr_[row - 1];
  }

  void fill(const std::vector<Piece>& pieces) {
    const std::size_t bytes = bytes_of(type_);
    col_idx_.resize(static_cast<std::size_t>(row_ptr_.back()));
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

  Type type_ = Type::none;
  std::vector<std::int64_t> row_ptr_;
  std::vector<std::int32_t> col_idx_;
  std::vector<std::byte> values_;
};

}  // namespace detail
}  // namespace dist
}  // namespace v1
}  // namespace sptile
