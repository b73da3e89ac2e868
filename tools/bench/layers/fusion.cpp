#include "tools/bench/layers/fusion.hpp"

#include <optional>
#include <sstream>
#include <utility>

namespace sptile::tools::layers {

Fusion fused_update(const Request& request, const DeviceGraph& graph, const Shape& shape,
                    Arrays<float>& arrays, Arrays<double>& exact) {
  const std::int64_t rows = graph.nodes(), d = shape.d, h = shape.h;
  float *const b = arrays.input("B", rows * d), *const w = arrays.input("W", d * h),
               *const c = arrays.array(kFusedResult, rows * h), *const z = arrays.array("Z", rows * d),
               *const apart = arrays.array(kApartResult, rows * h);
  Fastest fused = request.fastest("spmm_update", {.n = d, .m = h}, {.dense = {{{b}, {w}, {}, {}, {c}}}});
  Fastest spmm = request.fastest("spmm", {.n = d}, {.dense = {{{b}, {z}}}});
  Fusion fusion;
  fusion.apart_format = fused.format + " over " + spmm.format;
  fusion.operand_bytes = static_cast<std::size_t>(rows * (d + h) + d * h) * sizeof(float);
  fusion.fused_bytes = fusion.operand_bytes + fused.workspace_bytes;
  fusion.apart_bytes =
      fusion.operand_bytes + spmm.workspace_bytes + static_cast<std::size_t>(rows * d) * sizeof(float);
  fusion.fused = {std::move(fused.launch)};
  fusion.apart = {std::move(spmm.launch), vendor_gemm<float>({z}, {w}, apart, rows, h, d)};
  double* const exact_z = exact.array("Z", rows * d);
  fusion.reference = {
      vendor_spmm<double>(graph.weighted<double>(false), {exact.input("B", rows * d), d}, {exact_z, d}, d),
      vendor_gemm<double>({exact_z}, {exact.input("W", d * h)}, exact.array(kApartResult, rows * h), rows, h,
                          d)};
  return fusion;
}

namespace {

constexpr double kSlope = 0.2;

/// Operands of attention; heads stand side by side in rows.
template <class T>
struct Tensors {
  std::int64_t rows, n, heads;
  bool one_number;  ///< X and Y are numbers, not rows
  T *x, *y, *v;
  T* out;  ///< of several launches

  Tensors(Score score, const DeviceGraph& graph, const Shape& shape, Arrays<T>& arrays)
      : rows(graph.nodes()), n(shape.d), heads(shape.heads), one_number(score == Score::additive) {
    const std::int64_t width = rows * n * heads;
    const bool same = score == Score::cosine;  // AGNN has one matrix
    x = arrays.input("X", one_number ? rows * heads : width);
    y = same ? x : arrays.input("Y", one_number ? rows * heads : width);
    v = same ? x : arrays.input("V", width);
    out = arrays.array(kApartResult, width);
  }

  [[nodiscard]] Operand part(const T* data) const { return {data, n * heads, n}; }
  [[nodiscard]] Operand scored(const T* data) const {
    return one_number ? Operand{data, heads, 1} : part(data);
  }
};

/// X and Y as SDDMM takes them: of cosines, rows of unit length, which `step` makes.
template <class T>
std::pair<T*, T*> factors(Step& step, Score score, const Tensors<T>& a, Arrays<T>& arrays) {
  if (score != Score::cosine) return {a.x, a.y};
  T *const unit = arrays.array("unit", a.rows * a.n * a.heads), *const length =
                                                                    arrays.array("length", a.rows * a.heads);
  step.push_back([=](cudaStream_t on) { normalize(a.x, unit, length, a.rows * a.heads, a.n, on); });
  return {unit, unit};
}

/// SDDMM, softmax and SpMM of one format.
struct ThreeLaunches {
  Step step;
  std::size_t workspace_bytes = 0;
};

ThreeLaunches three_launches(const Request& request, const std::string& format, Score score,
                             const DeviceGraph& graph, const Tensors<float>& a, Arrays<float>& arrays) {
  const auto heads = static_cast<std::int32_t>(a.heads);
  const PlanOptions options = {.n = a.n, .format = format, .heads = heads};
  const Edges edges = graph.edges();
  float *const s = arrays.array("S", edges.count * a.heads), *const p =
                                                                 arrays.array("P", edges.count * a.heads);
  ThreeLaunches three;
  const auto launch = [&](const char* operation, const Operands& operands) {
    Plan plan = request.plan(operation, options);
    three.workspace_bytes += plan.workspace_bytes();
    three.step.push_back(launch_of(std::move(plan), operands));
  };
  const auto [x, y] = factors(three.step, score, a, arrays);
  if (score == Score::additive)
    three.step.push_back([=](cudaStream_t on) { additive_scores(edges, a.x, a.y, s, kSlope, heads, on); });
  else
    launch("sddmm", {.dense = {{a.part(x), a.part(y), {s}}}});
  launch("softmax_rows", {.dense = {{{s}, {p}}}});
  launch("spmm", {.dense = {{a.part(a.v), a.part(a.out)}}, .values = p, .values_batch = edges.count});
  return three;
}

/// The same in double, by others.
Step reference_of(Score score, const DeviceGraph& graph, const Tensors<double>& a, Arrays<double>& exact) {
  const Edges edges = graph.edges();
  const int heads = static_cast<int>(a.heads);
  double *const s = exact.array("S", edges.count * a.heads), *const p =
                                                                 exact.array("P", edges.count * a.heads);
  const auto part = [&](double* data, int head) { return Rows<double>{data + head * a.n, a.n * a.heads}; };
  Step step;
  const auto [x, y] = factors(step, score, a, exact);
  if (score == Score::additive)
    step.push_back([=](cudaStream_t on) { additive_scores(edges, a.x, a.y, s, kSlope, heads, on); });
  for (int head = 0; head < heads && score != Score::additive; ++head)
    step.push_back(vendor_sddmm<double>(graph.with_values<double>(false, s + head * edges.count),
                                        part(x, head), part(y, head), a.n));
  step.push_back([=](cudaStream_t on) { softmax(edges, s, p, 1, heads, on); });
  for (int head = 0; head < heads; ++head)
    step.push_back(vendor_spmm<double>(graph.with_values<double>(false, p + head * edges.count),
                                       part(a.v, head), part(a.out, head), a.n));
  return step;
}

/// The fastest of all formats that have what is needed.
ThreeLaunches best_three(const Request& request, Score score, const DeviceGraph& graph,
                         const Tensors<float>& a, Arrays<float>& arrays, std::string& chosen) {
  std::optional<ThreeLaunches> best;
  std::string missing;
  double least = 0;
  // Scores of additive attention are computed here, in the order of CSR.
  std::istringstream formats(score == Score::additive ? "csr" : request.formats);
  for (std::string format; std::getline(formats, format, ',');) try {
      ThreeLaunches three = three_launches(request, format, score, graph, a, arrays);
      const double us = graph_us(three.step, 0);
      if (best && us >= least) continue;
      best = std::move(three);
      least = us;
      chosen = format;
    } catch (const Exception& error) {
      missing = error.what();
    }
  if (!best) throw Exception(SPTILE_UNSUPPORTED, missing);
  return std::move(*best);
}

}  // namespace

Fusion fused_attention(const Request& request, Score score, const DeviceGraph& graph, const Shape& shape,
                       Arrays<float>& arrays, Arrays<double>& exact) {
  const Tensors<float> a(score, graph, shape, arrays);
  const std::int64_t width = a.rows * a.n * a.heads;
  float *const out = arrays.array(kFusedResult, width), *const statistics =
                                                            arrays.array("statistics", 2 * a.rows * a.heads);
  Fastest fused = request.fastest(
      "attention", {.n = a.one_number ? 1 : a.n, .m = a.n, .heads = shape.heads, .score = score},
      {.dense = {{a.scored(a.x), a.scored(a.y), a.part(a.v), {}, {statistics}, a.part(out)}},
       .slope = kSlope});
  const auto floats = [](std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(float); };
  const std::int64_t matrices = score == Score::dot ? 4 : 2, numbers = a.one_number ? 4 : 2;
  Fusion fusion;
  fusion.operand_bytes = floats(matrices * width + numbers * a.rows * a.heads) + graph.csr_bytes();
  fusion.fused_bytes = fusion.operand_bytes + fused.workspace_bytes;
  fusion.fused = {std::move(fused.launch)};
  ThreeLaunches three = best_three(request, score, graph, a, arrays, fusion.apart_format);
  fusion.apart_bytes = fusion.operand_bytes + three.workspace_bytes + floats(2 * graph.count() * a.heads) +
                       (score == Score::cosine ? floats(width) : 0);
  fusion.apart_format = fused.format + " over " + fusion.apart_format;
  fusion.apart = std::move(three.step);
  fusion.reference = reference_of(score, graph, Tensors<double>(score, graph, shape, exact), exact);
  return fusion;
}

}  // namespace sptile::tools::layers
