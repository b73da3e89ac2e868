// What `convert` is told to do, as typed and as resolved.
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

/// The type that the values of the source have in a bundle whose formats have values of type `dtype`.
constexpr DType source_type(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

/// As typed.
struct ConvertOptions {
  std::string in, out, formats = "all";
  std::string device = "cpu";
  DType dtype = DType::f32;
  OrderRequest order = {
      .method = "identity", .preset = {}, .settings = {}, .window_rows = 0};  ///< as window_rows_of says
  bool refreshable = false, transpose = false, real_part = false, strict = false, force = false;
  std::shared_ptr<const LoadedMatrix> matrix = {};  ///< in memory, in place of a file `in`
  formats::EdgeListOptions edges = {};              ///< how an edge list is read
  std::string from = {};                            ///< kind of the file `in`; empty: what it says
  int fd = -1;                                      ///< an open, empty file in place of a new one at `out`
  bool dry_run = false;                             ///< do all but write
};

/// Resolved: nothing in it is a name that would have to be looked up.
struct ConvertTask {
  std::string in, out;  ///< out: the bundle
  std::vector<FormatChoice> formats;
  std::string format_labels;  ///< "all", or the labels with commas
  Ordering ordering;
  DType dtype = DType::f32;
  runtime::Device device = runtime::Device::cpu;  ///< that converts; orderings are found on the CPU
  bool refreshable = false, transpose = false, real_part = false;
  bool strict = false;  ///< refuse values that are too large for dtype (Errc::bad_input)
  bool force = false;
  formats::EdgeListOptions edges;
  std::string from;
  std::shared_ptr<const LoadedMatrix> matrix;  ///< values of type f64 where dtype is f64, else f32, or none
  int fd = -1;
  bool dry_run = false;
  formats::OutputGroup* group = nullptr;  ///< see formats::Placing
};

/// Resolves names and checks values, the device and the output: before the input is read, because what is
/// wrong with them should cost no waiting.
Result<ConvertTask> resolve(const ConvertOptions& options);

}  // namespace sptile::tools
