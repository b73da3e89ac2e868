#include "tools/cli/json.hpp"
#include "tools/measure/candidates.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/report/recommend.hpp"
#include "tools/report/report.hpp"
#include "tools/stats/quality_report.hpp"

namespace sptile::tools::report {
namespace {

Json orders_json(const Report& report) {
  Json list = Json::array();
  for (const OrderTried& order : report.orders) {
    Json json = {{"reorder", order.label}};
    if (!order.refused.empty()) {
      json["refused"] = order.refused;
    } else {
      json.update({{"seconds", order.seconds}, {"tc_blocks", order.tc_blocks}});
      json["quality"] = tools::to_json(order.quality.windows);
      json["locality"] = tools::to_json(order.quality.locality);
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json formats_json(const Report& report) {
  Json list = Json::array();
  for (const FormatsInOrder& formats : report.formats)
    list.push_back({{"reorder", report.orders[formats.order].label},
                    {"sizes", tools::to_json(formats.sizes)},
                    {"candidates", tools::to_json(formats.candidates)}});
  return list;
}

Json bins_json(const std::vector<LengthBin>& bins) {
  Json list = Json::array();
  for (const LengthBin& bin : bins)
    list.push_back({{"least", bin.min}, {"most", bin.max}, {"rows", bin.lines}});
  return list;
}

Json advice_json(const Report& report) {
  if (!report.advice) return nullptr;
  const runtime::Candidate& chosen = advised(report);
  constexpr const char* kBasis[] = {"measured", "predicted", "bytes"};
  return {{"reorder", advised_order(report).label},
          {"format", chosen.format},
          {"kernel", chosen.kernel->name},
          {"basis", kBasis[static_cast<int>(report.advice->basis)]},
          {"reasons", report.advice->reasons}};
}

}  // namespace

std::optional<double> time_of(const runtime::Candidate& candidate) {
  return candidate.measured_us ? candidate.measured_us : candidate.predicted_us;
}

Json to_json(const Session& session, const Report& report) {
  Json json = new_result(session);
  json.update({{"input", report.input}, {"name", report.name}});
  json.update({{"rows", report.rows}, {"cols", report.cols}, {"nnz", report.nnz}});
  json.update({{"dtype", dtype_label(report.dtype)}, {"symmetric", report.symmetric}});
  json.update({{"row_nnz", tools::to_json(report.row_nnz)}, {"col_nnz", tools::to_json(report.column_nnz)}});
  json["row_bins"] = bins_json(report.row_bins);
  json["window_rows"] = report.window_rows;
  json["orders"] = orders_json(report);
  json["best_order"] = report.orders[report.best_order].label;
  json.update({{"op", report.op}, {"device", report.device}, {"dense", report.dense}, {"n", report.n}});
  json["measured"] = report.measured;
  json["not_reached"] = report.not_reached;
  json["formats"] = formats_json(report);
  json["compulsory_bytes"] = report.compulsory_bytes;
  json["copy_gbps"] = report.copy_rate > 0 ? Json(report.copy_rate * 1e-9) : Json(nullptr);
  json["floor_us"] = report.floor_us > 0 ? Json(report.floor_us) : Json(nullptr);
  json["advice"] = advice_json(report);
  json["commands"] = report.commands;
  return json;
}

}  // namespace sptile::tools::report
