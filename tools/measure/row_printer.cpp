#include "tools/measure/row_printer.hpp"

#include <cstdio>
#include <utility>

#include "runtime/kernels/kernels.hpp"
#include "tools/cli/json.hpp"
#include "tools/cli/progress_bar.hpp"
#include "tools/cli/terminal.hpp"
#include "tools/measure/bench_rows.hpp"
#include "tools/pipeline/input.hpp"

namespace sptile::tools {
namespace {

BenchLabels labels_of(const BenchTask& task) {
  BenchLabels labels;
  for (const std::string& path : task.inputs) labels.matrices.push_back(base_name(path));
  for (const Ordering& ordering : task.orderings) labels.orderings.push_back(ordering.label());
  for (const FormatChoice& format : task.formats) labels.formats.push_back(format.label);
  for (const runtime::Kernel& kernel : runtime::kernels())
    if (kernel.op == task.op && kernel.device == task.device) labels.kernels.emplace_back(kernel.name);
  for (const std::int64_t n : task.columns) labels.columns.push_back(std::to_string(n));
  labels.device = task.device != runtime::Device::cpu;
  labels.precisions = task.precisions.size() > 1;
  return labels;
}

}  // namespace

void print_rows(const Session& session, BenchTask& task) {
  if (session.common.json) return;
  task.observe = [&session, table = BenchTable(labels_of(task), terminal_columns(stdout)),
                  groups = BenchGroups(), first = true](const Json& row) mutable {
    if (std::exchange(first, false)) print_line(session.bar, table.head(), stdout);
    print_line(session.bar, table.line(row, groups.add(row)), stdout);
  };
}

}  // namespace sptile::tools
