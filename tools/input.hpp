// Reads a matrix from whatever file the user names.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/csr.hpp"
#include "formats/io/edge_list.hpp"
#include "formats/nonempty_rows.hpp"
#include "runtime/bundle/bundle_matrix.hpp"
#include "tools/overflow.hpp"
#include "tools/work.hpp"

namespace sptile::tools {

struct LoadOptions {
  DType dtype = DType::f32;  ///< of the values in memory; none: as a bundle holds them, f64 for text
  bool real_part = false;    ///< of complex Matrix Market files
  bool hash_source = false;  ///< fill LoadedMatrix::sha256
  formats::EdgeListOptions edges = {};
  bool compress_rows = false;  ///< see LoadedMatrix::nonempty; only some kinds of files heed it
};

/// A matrix in its original row order.
struct LoadedMatrix {
  formats::Csr csr;
  std::string name;                     ///< file name without folders; "-" for standard input
  std::string sha256;                   ///< of the file's bytes, when asked for
  std::vector<std::int32_t> row_order;  ///< new_to_old that a bundle holds; empty otherwise
  std::int64_t duplicates = 0;          ///< entries summed into others
  Overflow overflow;                    ///< values that are infinite in the type that was asked for
  std::optional<formats::NonemptyRows> nonempty = {};  ///< rows that `csr` has, where it does not have all
};

/// Gives the values another type, unless they have it, there are none, or it is none; says what became
/// infinite. `source` is what messages call the matrix.
void take_type(LoadedMatrix& loaded, const std::string& source, DType dtype);

/// Reads a matrix of any kind that matrix_kinds.hpp lists; "-" is standard input. Notes duplicates and
/// non-finite values on stderr; warns of values that are too large for the type.
Result<LoadedMatrix> load_matrix(Work& work, const std::string& path, const LoadOptions& options);

/// Finds early what load_matrix would refuse: looks at the header of the file, not at pipes, which can be
/// read once.
Status probe_matrix(const std::string& path, bool real_part);

/// Opens a bundle; other kinds of files are refused with what they are (Errc::bad_input).
Result<std::shared_ptr<const runtime::Bundle>> open_bundle(const std::string& path);

/// Finds a stored format, of the matrix or its transpose; Errc::usage with what the bundle holds when it is
/// not there.
Result<const formats::FormatView*> held_format(const runtime::Bundle& bundle, const std::string& path,
                                               std::string_view name,
                                               formats::Side side = formats::Side::matrix);

/// Takes the formats of a side that a list names, or with "auto" all that the bundle holds; errors as
/// held_format, Errc::usage where the bundle holds no transpose.
Result<std::vector<runtime::PlanMatrix>> held_matrices(const std::shared_ptr<const runtime::Bundle>& bundle,
                                                       const std::string& path, const std::string& names,
                                                       formats::Side side = formats::Side::matrix);

/// Names a value type, "pattern" for none.
std::string_view dtype_label(DType dtype);

/// The last part of a path.
std::string base_name(const std::string& path);

}  // namespace sptile::tools
