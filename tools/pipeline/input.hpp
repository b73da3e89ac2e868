// Reading of a matrix from any supported file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/core/csr.hpp"
#include "formats/core/nonempty_rows.hpp"
#include "formats/core/value_loss.hpp"
#include "formats/io/graph/edge_list.hpp"
#include "formats/io/stream/input_bytes.hpp"
#include "runtime/bundle/bundle_matrix.hpp"
#include "tools/pipeline/work.hpp"

namespace sptile::tools {

struct LoadOptions {
  DType dtype = DType::f32;  ///< type of the values in memory; none: as in a bundle, f64 for text
  bool real_part = false;    ///< real part of complex Matrix Market files
  bool hash_source = false;  ///< fill LoadedMatrix::sha256
  formats::EdgeListOptions edges = {};
  std::string from = {};       ///< name of the file kind for find_kind_named; empty: detected
  bool compress_rows = false;  ///< see LoadedMatrix::nonempty; supported by some file kinds only
};

/// A matrix in its original row order.
struct LoadedMatrix {
  formats::Csr csr;
  std::string name;                     ///< file name without directories; "-" for standard input
  std::string sha256;                   ///< hash of the file's bytes, if requested
  std::vector<std::int32_t> row_order;  ///< new_to_old stored in a bundle; empty otherwise
  std::int64_t duplicates = 0;          ///< entries that were added to others
  formats::ValueLoss loss;              ///< values that the requested type cannot represent
  bool integers = false;                ///< the values are integers, or counts of repeated entries
  std::optional<formats::NonemptyRows> nonempty = {};  ///< the rows that `csr` contains, if not all
};

/// Converts the values to another type, unless it is none, equal, or there are no values. Adds the losses to
/// LoadedMatrix::loss. Messages call the matrix `source`.
void take_type(LoadedMatrix& loaded, const std::string& source, DType dtype);

/// Reads a matrix of any kind in matrix_kinds.hpp; "-" is standard input. Prints notes on duplicates and
/// non-finite values, and warnings for values that the type cannot represent.
Result<LoadedMatrix> load_matrix(Work& work, const std::string& path, const LoadOptions& options);
/// Reads a matrix from an open file (open_matrix_file); messages use `path`.
Result<LoadedMatrix> load_matrix(Work& work, const std::string& path, formats::InputBytes input,
                                 const LoadOptions& options);

/// Returns sentences on lost values, such as "values too large for f32, read as infinite: 2". `in` is a
/// template such as "read as {}", where {} is the new value.
std::vector<std::string> describe_losses(const formats::LossCounts& lost, DType dtype, std::string_view in);

/// Checks early whether load_matrix would fail, from the header of the file. Does nothing for pipes, which
/// can be read only once.
Status probe_matrix(const std::string& path, const LoadOptions& options);

/// Selects that a bundle keeps the descriptor of its file, so that plans are added to the same file.
enum class KeepOpen : std::uint8_t { no, yes };

/// Opens a bundle, copied if Work::copy is set. Errc::bad_input, naming the kind, for other files.
Result<std::shared_ptr<const runtime::Bundle>> open_bundle(const Work& work, const std::string& path,
                                                           KeepOpen keep_open = KeepOpen::no);

/// Returns a stored format of the matrix or its transpose. Errc::usage, with the stored ones, if it is
/// missing.
Result<const formats::FormatView*> held_format(const runtime::Bundle& bundle, const std::string& path,
                                               std::string_view name,
                                               formats::Side side = formats::Side::matrix);

/// Returns the formats of a side in a list, or all stored formats for "auto". Errors as for held_format;
/// Errc::usage if the bundle does not contain the transpose.
Result<std::vector<runtime::PlanMatrix>> held_matrices(const std::shared_ptr<const runtime::Bundle>& bundle,
                                                       const std::string& path, const std::string& names,
                                                       formats::Side side = formats::Side::matrix);

/// Returns the name of a value type, "pattern" for none.
std::string_view dtype_label(DType dtype);

/// Returns the last component of a path.
std::string base_name(const std::string& path);

}  // namespace sptile::tools
