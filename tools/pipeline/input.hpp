// Reads a matrix from whatever file the user names.
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
  DType dtype = DType::f32;  ///< of the values in memory; none: as a bundle holds them, f64 for text
  bool real_part = false;    ///< of complex Matrix Market files
  bool hash_source = false;  ///< fill LoadedMatrix::sha256
  formats::EdgeListOptions edges = {};
  std::string from = {};  ///< the kind of file, a name that find_kind_named takes; empty: what the file says
  bool compress_rows = false;  ///< see LoadedMatrix::nonempty; only some kinds of files heed it
};

/// A matrix in its original row order.
struct LoadedMatrix {
  formats::Csr csr;
  std::string name;                     ///< file name without folders; "-" for standard input
  std::string sha256;                   ///< of the file's bytes, when asked for
  std::vector<std::int32_t> row_order;  ///< new_to_old that a bundle holds; empty otherwise
  std::int64_t duplicates = 0;          ///< entries summed into others
  formats::ValueLoss loss;              ///< values that the type that was asked for cannot hold
  bool integers = false;                ///< the values are integers, or counts of repeated entries
  std::optional<formats::NonemptyRows> nonempty = {};  ///< rows that `csr` has, where it does not have all
};

/// Gives the values another type, unless they have it, there are none, or it is none; adds what that loses to
/// LoadedMatrix::loss. `source` is what messages call the matrix.
void take_type(LoadedMatrix& loaded, const std::string& source, DType dtype);

/// Reads a matrix of any kind that matrix_kinds.hpp lists; "-" is standard input. Notes duplicates and
/// non-finite values on stderr; warns of values that the type cannot hold.
Result<LoadedMatrix> load_matrix(Work& work, const std::string& path, const LoadOptions& options);
/// The same of a file that is open (open_matrix_file); `path` is for messages.
Result<LoadedMatrix> load_matrix(Work& work, const std::string& path, formats::InputBytes input,
                                 const LoadOptions& options);

/// Sentences on lost values: "values too large for f32, read as infinite: 2". `in`: "read as {}", where {}
/// stands for what they are now.
std::vector<std::string> describe_losses(const formats::LossCounts& lost, DType dtype, std::string_view in);

/// Finds early what load_matrix would refuse: looks at the header of the file, not at pipes, which can be
/// read once.
Status probe_matrix(const std::string& path, const LoadOptions& options);

/// Whether a bundle keeps the descriptor of its file, so that plans are added to that very file.
enum class KeepOpen : std::uint8_t { no, yes };

/// Opens a bundle, as Work::copy says; other kinds of files are refused with what they are (Errc::bad_input).
Result<std::shared_ptr<const runtime::Bundle>> open_bundle(const Work& work, const std::string& path,
                                                           KeepOpen keep_open = KeepOpen::no);

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
