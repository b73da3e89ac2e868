#include "runtime/handle/whole.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/layout/csr.hpp"
#include "runtime/threads/count.hpp"

namespace sptile::runtime {
namespace {

std::string path_of_part(const std::string& folder, std::int64_t rank) {
  char name[32];
  std::snprintf(name, sizeof name, "/part-%04lld.h5", static_cast<long long>(rank));
  return folder + name;
}

tl::unexpected<Error> refuse(const std::string& where, const std::string& what) {
  return fail(Errc::bad_input, where + ": " + what + "; partition the matrix again");
}

using Entry = std::pair<std::int32_t, const std::byte*>;  // column, value

/// A part and the arrays of its matrices, with checked ids and offsets.
struct Piece {
  Part part;
  formats::CsrView local, halo;

  [[nodiscard]] std::int64_t entries() const { return local.nnz() + halo.nnz(); }

  /// Calls take(row of the entire matrix, its entries sorted by column) for each row.
  template <class Take>
  void each_row(const Take& take) const {
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < part.old_ids.size(); ++i) {
      entries.clear();
      append(local, part.old_ids, i, entries);
      append(halo, part.halo_ids, i, entries);
      std::sort(entries.begin(), entries.end(),
                [](const Entry& x, const Entry& y) { return x.first < y.first; });
      take(static_cast<std::size_t>(part.old_ids[i]), entries);
    }
  }

  static void append(const formats::CsrView& a, std::span<const std::int32_t> ids, std::size_t row,
                     std::vector<Entry>& entries) {
    const auto* const values = static_cast<const std::byte*>(a.values.data);
    const std::size_t bytes = size_of(a.values.dtype);
    for (auto e = static_cast<std::size_t>(a.row_ptr[row]); e < static_cast<std::size_t>(a.row_ptr[row + 1]);
         ++e)
      entries.emplace_back(ids[static_cast<std::size_t>(a.col_idx[e])],
                           values == nullptr ? nullptr : values + e * bytes);
  }
};

Result<Piece> piece_of(const Part& part) {
  Piece piece{part, part.local->csr(), part.halo->csr()};
  for (const formats::CsrView& csr : {piece.local, piece.halo})
    if (Status s = formats::check_csr(csr, max_threads()); !s) return tl::unexpected(s.error());
  return piece;
}

Status check_belongs(const Part& part, std::int64_t place, const Part& own, const std::string& path) {
  const auto numbers = [](const Part& one) {
    return std::tuple(one.id, one.numbers.parts, one.numbers.rows, one.numbers.entries,
                      one.numbers.symmetric);
  };
  if (numbers(part) != numbers(own))
    return refuse(path, "belongs to a different partition from the part of process " +
                            std::to_string(own.numbers.rank));
  if (part.numbers.rank != place)
    return refuse(path, "declares itself part " + std::to_string(part.numbers.rank) +
                            ", but is stored as part " + std::to_string(place) + " of the directory");
  if (part.local->dtype() != own.local->dtype())
    return refuse(path, "has a different value type from part " + std::to_string(own.numbers.rank));
  return {};
}

Result<std::vector<Piece>> read_pieces(const Part& own, const std::string& folder) {
  std::vector<Piece> pieces;
  for (std::int64_t p = 0; p < own.numbers.parts; ++p) {
    const std::string path = path_of_part(folder, p);
    const auto part = p == own.numbers.rank ? Result<Part>(own) : open_part(path);
    if (!part) return tl::unexpected(part.error());
    if (Status s = check_belongs(*part, p, own, path); !s) return tl::unexpected(s.error());
    auto piece = piece_of(*part);
    if (!piece) return tl::unexpected(piece.error());
    pieces.push_back(std::move(*piece));
  }
  return pieces;
}

/// Checks that the rows and entries of the parts add up to those of the matrix. They are stored in files, so
/// memory is allocated only for stored data.
Status check_sums(const std::vector<Piece>& pieces, const formats::PartNumbers& whole,
                  const std::string& folder) {
  std::int64_t rows = 0, entries = 0;
  for (const Piece& piece : pieces) {
    rows += std::ssize(piece.part.old_ids);
    entries += piece.entries();
  }
  if (rows == whole.rows && entries == whole.entries) return {};
  return refuse(folder, "the parts have " + std::to_string(rows) + " rows and " + std::to_string(entries) +
                            " entries, the matrix has " + std::to_string(whole.rows) + " and " +
                            std::to_string(whole.entries));
}

/// Checks that no row has two owners. The parts have `rows` rows in total, so each row then has exactly one.
Status check_owners(const std::vector<Piece>& pieces, std::int64_t rows, const std::string& folder) {
  std::vector<bool> owned(static_cast<std::size_t>(rows));
  for (const Piece& piece : pieces)
    for (const std::int32_t id : piece.part.old_ids) {
      if (owned[static_cast<std::size_t>(id)])
        return refuse(folder, "row " + std::to_string(id) + " belongs to two parts");
      owned[static_cast<std::size_t>(id)] = true;
    }
  return {};
}

/// Arrays of the entire matrix.
struct WholeArrays {
  std::vector<std::int64_t> row_ptr;
  std::vector<std::int32_t> col_idx;
  std::vector<std::byte> values;

  WholeArrays(const std::vector<Piece>& pieces, std::int64_t rows, std::size_t value_bytes)
      : row_ptr(static_cast<std::size_t>(rows) + 1) {
    for (const Piece& piece : pieces)
      piece.each_row([&](std::size_t row, const auto& entries) { row_ptr[row + 1] = std::ssize(entries); });
    for (std::size_t row = 1; row < row_ptr.size(); ++row) row_ptr[row] += row_ptr[row - 1];
    col_idx.resize(static_cast<std::size_t>(row_ptr.back()));
    values.resize(col_idx.size() * value_bytes);
    for (const Piece& piece : pieces)
      piece.each_row([&](std::size_t row, const auto& entries) {
        auto at = static_cast<std::size_t>(row_ptr[row]);
        for (const auto& [column, value] : entries) {
          col_idx[at] = column;
          if (value_bytes > 0) std::memcpy(&values[at * value_bytes], value, value_bytes);
          ++at;
        }
      });
  }
};

Result<HostCsr> joined(const Part& own, const std::string& folder) {
  const auto pieces = read_pieces(own, folder);
  if (!pieces) return tl::unexpected(pieces.error());
  const std::int64_t rows = own.numbers.rows;
  if (Status s = check_sums(*pieces, own.numbers, folder); !s) return tl::unexpected(s.error());
  if (Status s = check_owners(*pieces, rows, folder); !s) return tl::unexpected(s.error());
  const DType type = own.local->dtype();
  const auto arrays = std::make_shared<const WholeArrays>(*pieces, rows, size_of(type));
  HostCsr whole;
  whole.view = {rows, rows, arrays->row_ptr, arrays->col_idx, {}};
  if (type != DType::none) whole.view.values = {type, arrays->values.data(), std::ssize(arrays->col_idx)};
  whole.owner = arrays;
  if (Status s = formats::check_csr(whole.view, max_threads()); !s) return refuse(folder, s.error().message);
  return whole;
}

}  // namespace

Result<HostCsr> join_parts(const Part& own, const std::string& folder) try {
  return joined(own, folder);
} catch (const std::bad_alloc&) {
  return fail(Errc::device, folder + ": not enough memory for the entire matrix");
}

}  // namespace sptile::runtime
