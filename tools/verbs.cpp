#include "tools/commands/commands.hpp"
#include "tools/progress_bar.hpp"

namespace sptile::tools {

std::span<const Verb> verbs() {
  static const Verb kTable[] = {kConvert, kReorder, kStats, kSpy,   kReport,    kInfo, kVerify,
                                kExport,  kPlan,    kRun,   kBench, kCalibrate, kList, kGen};
  return kTable;
}

void Session::warn(const std::string& text) const { print_line(bar, text); }

void Session::note(const std::string& text) const {
  if (!common.quiet) warn(text);
}

void Session::detail(const std::string& text) const {
  if (common.verbose) note(text);
}

}  // namespace sptile::tools
