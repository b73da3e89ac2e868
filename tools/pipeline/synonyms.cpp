#include "tools/pipeline/synonyms.hpp"

#include <algorithm>

namespace sptile::tools {
namespace {

// Words of a line are synonyms. A word may be in several lines: the names that are valid in the context
// decide.
constexpr std::string_view kGroups[] = {
    // verbs
    "convert compress encode pack import create build make translate",
    "reorder sort order permute",
    "stats statistics describe analyse analyze summary count",
    "spy draw plot paint picture image",
    "report page html",
    "info show inspect header describe print cat head",
    "verify check validate test fsck",
    "export decompress decode extract unpack dump",
    "partition split divide shard distribute decompose",
    "plan prepare compile",
    "run multiply mul matmul execute exec spmm sddmm",
    "bench benchmark measure time perf profile",
    "calibrate tune fit train autotune",
    "list ls show tables",
    "gen generate generator synth random",
    "doctor diagnose diagnosis health selftest check env",
    // options
    "-n -N --n --N --cols --columns --width --features -k",
    "-o --output --out -O OUT --outfile --to",
    "IN --in --input -i --matrix BUNDLE --bundle",
    "--format --formats -f --fmt --kind --type",
    "--reorder --method --order --ordering --reordering --sort -r",
    "--dtype --type --values --datatype",
    "--device --gpu --cuda --target",
    "--threads -j --jobs -t --cores --cpus --num-threads",
    "--repeat --iterations --iters --runs --repeats --reps",
    "--warmup --warm-up",
    "--op --operation --product",
    "--force -f -y --overwrite --yes",
    "--quiet --silent -s",
    "--verbose --debug",
    "--color --colour",
    "--version -V",
    "--help -h -? --usage",
    "--check --verify --validate",
    "--explain --why",
    "--name --filter --grep --match",
    "--parts --part -p --nparts --partitions --ranks",
    "--against --compare --with",
    // devices, types, precisions
    "cuda gpu nvidia",
    "cpu host",
    "f32 fp32 float float32 single s",
    "f64 fp64 double float64 d",
    "f16 fp16 half float16",
    "bf16 bfloat16 bfloat",
    "tf32 tensorfloat32 tensor",
    // words for a choice from all
    "auto all any best automatic",
    "all everything",
    // formats and orderings
    "csr crs",
    "identity none natural original",
    "rcm cuthill-mckee cm rcmk",
    "random shuffle",
    "metis partition",
    "metis-nd nd dissection",
    "rabbit rabbit-order rabbitorder communities louvain",
    // kinds of matrices, and of fields
    "grid2d grid mesh laplace2d",
    "stencil27 stencil grid3d stencil3d",
    "planted blocks",
    "rmat kronecker graph500 powerlaw",
    "random uniform erdos-renyi er",
    "real values float double",
    "pattern none binary",
};

std::string lower(std::string_view word) {
  std::string result(word);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

bool holds(std::string_view group, std::string_view word) {
  while (!group.empty()) {
    const std::size_t end = std::min(group.find(' '), group.size());
    if (group.substr(0, end) == word) return true;
    group.remove_prefix(std::min(end + 1, group.size()));
  }
  return false;
}

}  // namespace

std::string same_meaning(std::string_view word, const std::vector<std::string>& known) {
  const std::string small = lower(word);
  for (const std::string& name : known)
    if (lower(name) == small) return name;
  for (const std::string_view group : kGroups) {
    if (!holds(group, word) && !holds(group, small)) continue;
    for (const std::string& name : known)
      if (holds(group, name)) return name;
  }
  return {};
}

}  // namespace sptile::tools
