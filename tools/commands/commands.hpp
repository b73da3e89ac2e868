// Verbs of the command, one file each.
#pragma once

#include "tools/cli/verb.hpp"

namespace sptile::tools {

extern const Verb kConvert;
extern const Verb kReorder;
extern const Verb kStats;
extern const Verb kSpy;
extern const Verb kReport;
extern const Verb kInfo;
extern const Verb kVerify;
extern const Verb kExport;
extern const Verb kRun;
extern const Verb kPartition;
extern const Verb kPlan;
extern const Verb kBench;
extern const Verb kCalibrate;
extern const Verb kList;
extern const Verb kGen;
extern const Verb kDoctor;
extern const Verb kCompletions;

}  // namespace sptile::tools
