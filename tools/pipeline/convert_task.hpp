// Options of `convert`, as typed and as resolved.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/core/dtype.hpp"
#include "formats/io/files/output_group.hpp"
#include "runtime/core/options.hpp"
#include "tools/pipeline/format_choice.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/order.hpp"

namespace sptile::tools {

/// Returns the type of the source values in a bundle with formats of type `dtype`.
constexpr DType source_type(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

/// Options as typed.
struct ConvertOptions {
  std::string in, out, formats = "all";
  std::string device = "cpu";
  DType dtype = DType::f32;
  OrderRequest order = {
      .method = "identity", .preset = {}, .settings = {}, .window_rows = 0};  ///< 0: see window_rows_of
  bool refreshable = false, transpose = false, real_part = false, strict = false, force = false;
  std::shared_ptr<const LoadedMatrix> matrix = {};  ///< in memory, instead of a file `in`
  formats::EdgeListOptions edges = {};              ///< options for reading an edge list
  std::string from = {};                            ///< file kind of `in`; empty: detected
  int fd = -1;                                      ///< an open, empty file to use instead of creating `out`
  bool dry_run = false;                             ///< do everything except writing
};

/// Resolved options, which contain no names to look up.
struct ConvertTask {
  std::string in, out;  ///< out: the bundle
  std::vector<FormatChoice> formats;
  std::string format_labels;  ///< "all", or comma-separated labels
  Ordering ordering;
  DType dtype = DType::f32;
  /// device that converts; see Ordering for the one that orders
  runtime::Device device = runtime::Device::cpu;
  bool refreshable = false, transpose = false, real_part = false;
  bool strict = false;  ///< refuse values that overflow dtype (Errc::bad_input)
  bool force = false;
  formats::EdgeListOptions edges;
  std::string from;
  std::shared_ptr<const LoadedMatrix> matrix;  ///< values of type f64 if dtype is f64, otherwise f32 or none
  int fd = -1;
  bool dry_run = false;
  formats::OutputGroup* group = nullptr;  ///< see formats::Placing
};

/// Resolves names and checks values, the device and the output. Runs before the input is read, so that
/// invalid options fail at once.
Result<ConvertTask> resolve(const ConvertOptions& options);

}  // namespace sptile::tools
