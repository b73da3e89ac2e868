#include <algorithm>

#include "tools/cli/colour.hpp"
#include "tools/cli/progress_bar.hpp"
#include "tools/commands/commands.hpp"

namespace sptile::tools {

std::span<const Verb> verbs() {
  static const Verb kTable[] = {kConvert,   kReorder, kStats,     kSpy,    kReport,     kInfo,
                                kVerify,    kExport,  kPartition, kPlan,   kRun,        kBench,
                                kCalibrate, kList,    kGen,       kDoctor, kCompletions};
  return kTable;
}

const Verb* find_verb(std::string_view name) {
  const auto row = std::ranges::find(verbs(), name, &Verb::name);
  return row == verbs().end() ? nullptr : &*row;
}

void Session::warn(const std::string& text) const { print_line(bar, styled(Style::warning, text, stderr)); }

void Session::note(const std::string& text) const {
  if (!common.quiet) print_line(bar, text);
}

void Session::detail(const std::string& text) const {
  if (common.verbose) note(text);
}

}  // namespace sptile::tools
