#include <fmt/format.h>

#include <algorithm>

#include "runtime/bundle/bundle.hpp"
#include "tools/cli/json.hpp"
#include "tools/cli/table.hpp"
#include "tools/commands/commands.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/units.hpp"
#include "tools/stats/stored_plans.hpp"

namespace sptile::tools {
namespace {

using formats::Side;

bool is_symmetric(const runtime::Bundle& bundle) { return bundle.symmetric().value_or(false); }

Json format_json(const runtime::Bundle& bundle, const formats::FormatView& view, Side side) {
  return {{"name", view.layout->name},
          {"dtype", dtype_label(view.value_dtype())},
          {"tc_blocks", view.layout->tc_blocks(view)},
          {"index_bytes", formats::index_bytes(view)},
          {"value_bytes", formats::value_bytes(view)},
          {"refreshable", bundle.value_source(view.layout->name, side).present()}};
}

Json formats_json(const runtime::Bundle& bundle, Side side) {
  Json list = Json::array();
  for (const formats::FormatView& view : bundle.formats(side))
    list.push_back(format_json(bundle, view, side));
  return list;
}

// Returns the formats of the transpose; null if it is not stored.
Json transpose_json(const runtime::Bundle& bundle) {
  if (bundle.formats(Side::transpose).empty()) return nullptr;
  return {{"shared", is_symmetric(bundle)},
          {"row_order", !bundle.row_order(Side::transpose).empty()},
          {"formats", formats_json(bundle, Side::transpose)}};
}

Json array_json(const runtime::BundleArray& array) {
  return {{"path", array.path},
          {"dtype", name_of(array.array.dtype)},
          {"elements", array.array.size},
          {"bytes", array.array.bytes()},
          {"xxh3", fmt::format("{:016x}", array.hash)}};
}

// Returns the recorded automatic choices. Bundles may be untrusted, so control sequences are removed.
std::string choices_text(const runtime::Bundle& bundle) {
  constexpr std::size_t kMax = 1 << 16;
  std::string text;
  for (const runtime::BundleArray& array : bundle.arrays())
    if (array.path == formats::kChoicesPath && array.array.dtype == DType::u8) {
      const auto* const bytes = static_cast<const char*>(array.array.data);
      text.assign(bytes, std::min(static_cast<std::size_t>(array.array.size), kMax));
    }
  for (char& c : text)
    if ((c < ' ' || c > '~') && c != '\n') c = '?';
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

// Returns the choices as a list of lines.
Json choices_json(const runtime::Bundle& bundle) {
  const std::string text = choices_text(bundle);
  Json list = Json::array();
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    list.push_back(text.substr(at, text.find('\n', at) - at));
  return list;
}

Json info_json(const Session& session, const std::string& path, const runtime::Bundle& bundle) {
  Json json = new_result(session);
  json.update({{"bundle", path}, {"rows", bundle.rows()}, {"cols", bundle.cols()}, {"nnz", bundle.nnz()}});
  json.update({{"dtype", dtype_label(bundle.dtype())}, {"row_order", !bundle.row_order().empty()}});
  json["file_bytes"] = bundle.file_size();
  json["symmetric"] = bundle.symmetric() ? Json(*bundle.symmetric()) : Json(nullptr);
  json["formats"] = formats_json(bundle, Side::matrix);
  json["transpose"] = transpose_json(bundle);
  json["plans"] = Json::array();
  for (const runtime::StoredPlan& plan : bundle.plans()) json["plans"].push_back(to_json(plan));
  json["choices"] = choices_json(bundle);
  json["arrays"] = Json::array();
  for (const runtime::BundleArray& array : bundle.arrays()) json["arrays"].push_back(array_json(array));
  return json;
}

std::string order_text(const runtime::Bundle& bundle, Side side) {
  return bundle.row_order(side).empty() ? "original row order" : "rows reordered in the formats";
}

std::string formats_table(const runtime::Bundle& bundle, Side side) {
  std::vector<std::vector<std::string>> rows = {
      {"format", "values", "tc blocks", "index", "value", "refreshable"}};
  for (const formats::FormatView& view : bundle.formats(side)) {
    const std::int64_t blocks = view.layout->tc_blocks(view);
    rows.push_back({std::string(view.layout->name), std::string(dtype_label(view.value_dtype())),
                    blocks > 0 ? fmt::format("{}", blocks) : "-", human_bytes(formats::index_bytes(view)),
                    human_bytes(formats::value_bytes(view)),
                    bundle.value_source(view.layout->name, side).present() ? "yes" : "no"});
  }
  return format_table(rows, "llrrrl");
}

// Returns the section on the transpose; the title states whether the matrix is symmetric.
std::string transpose_text(const runtime::Bundle& bundle) {
  if (is_symmetric(bundle) || bundle.formats(Side::transpose).empty()) return "";
  return fmt::format("\ntranspose: {} x {}, {}\n\n{}", bundle.cols(), bundle.rows(),
                     order_text(bundle, Side::transpose), formats_table(bundle, Side::transpose));
}

std::string info_text(const Session& session, const std::string& path, const runtime::Bundle& bundle) {
  std::string text = fmt::format("{}: {} x {}, {} entries, {}{}, {}, {}\n\n{}{}", path, bundle.rows(),
                                 bundle.cols(), bundle.nnz(), dtype_label(bundle.dtype()),
                                 is_symmetric(bundle) ? ", symmetric" : "", order_text(bundle, Side::matrix),
                                 human_bytes(static_cast<std::int64_t>(bundle.file_size())),
                                 formats_table(bundle, Side::matrix), transpose_text(bundle));
  if (const std::string choices = choices_text(bundle); !choices.empty())
    text += "\nautomatic choices\n" + choices;
  if (!bundle.plans().empty()) text += "\n" + plans_text(bundle.plans());
  if (!session.common.verbose) return text;
  std::vector<std::vector<std::string>> rows = {{"array", "type", "elements", "bytes"}};
  for (const runtime::BundleArray& array : bundle.arrays())
    rows.push_back({array.path, std::string(name_of(array.array.dtype)), fmt::format("{}", array.array.size),
                    fmt::format("{}", array.array.bytes())});
  return text + "\n" + format_table(rows, "llrr");
}

Status run_info(Session& session, const std::string& path) {
  const auto bundle = open_bundle(session, path);
  if (!bundle) return tl::unexpected(bundle.error());
  print_result(session, info_json(session, path, **bundle), info_text(session, path, **bundle));
  return {};
}

Action declare_info(Options& app) {
  auto path = std::make_shared<std::string>();
  app.add_option("BUNDLE", *path, "Bundle to inspect").required();
  return [path](Session& session) { return run_info(session, *path); };
}
}  // namespace

const Verb kInfo = {
    .name = "info",
    .summary = "Print the contents of a bundle",
    .details =
        "Reads only the header and the keys of stored plans, regardless of the size of the bundle. `-v` also "
        "lists the arrays.",
    .json_keys =
        "`rows`, `cols`, `nnz`, `dtype`, `row_order`, `symmetric`, `formats[]`, `transpose`, `choices[]`, "
        "`plans[]`, `arrays[]`.\n"
        "`symmetric` is null for bundles written by versions that did not record it. `transpose` is null if "
        "the "
        "bundle "
        "cannot multiply by the transpose; it has `shared`, `row_order` and `formats[]`. Each plan has `op`, "
        "`transpose`, `format`, `kernel`, `n`, `values`, `dtype`, `result_dtype`, `precision`, `device`, "
        "`capability`, `multiprocessors`, `l2_bytes`, `bytes`.",
    .example = "  sptile info matrix.h5 -v",
    .declare = declare_info};

}  // namespace sptile::tools
