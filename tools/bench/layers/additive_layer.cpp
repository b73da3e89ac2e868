// GAT: H = X W in parts of n columns, one a head; out = softmax(leaky_relu(a_l . h_i + a_r . h_j)) H, part by
// part. Both sides multiply X and W with cuBLAS.
#include "tools/bench/layers/sides.hpp"

namespace sptile::tools::layers {
namespace {

constexpr double kSlope = 0.2;

/// What both sides have.
template <class T>
struct Tensors {
  std::int64_t rows, d, width;
  Features features;
  T *x, *w, *al, *ar, *h, *sl, *sr, *out, *dout, *dv, *dsl, *dsr, *dal, *dar, *dh, *dw, *dx;

  Tensors(const DeviceGraph& graph, const Shape& shape, Arrays<T>& arrays)
      : rows(graph.nodes()),
        d(shape.d),
        width(shape.h),
        features{shape.h / shape.heads, shape.heads},
        x(arrays.input("X", rows * d)),
        w(arrays.input("W", d * width)),
        al(arrays.input("a_l", width)),
        ar(arrays.input("a_r", width)),
        h(arrays.array("H", rows * width)),
        sl(arrays.array("s_l", rows * shape.heads)),
        sr(arrays.array("s_r", rows * shape.heads)),
        out(arrays.array("out", rows * width)),
        dout(arrays.input("dout", rows * width)),
        dv(arrays.array("dV", rows * width)),
        dsl(arrays.array("ds_l", rows * shape.heads)),
        dsr(arrays.array("ds_r", rows * shape.heads)),
        dal(arrays.array("da_l", width)),
        dar(arrays.array("da_r", width)),
        dh(arrays.array("dH", rows * width)),
        dw(arrays.array("dW", d * width)),
        dx(arrays.array("dX", rows * d)) {}

  /// H and the numbers of the nodes.
  [[nodiscard]] Step begin() const {
    return {vendor_gemm<T>({x}, {w}, h, rows, width, d),
            [t = *this](cudaStream_t on) { head_dots(t.h, t.al, t.sl, t.rows, t.features, on); },
            [t = *this](cudaStream_t on) { head_dots(t.h, t.ar, t.sr, t.rows, t.features, on); }};
  }

  /// From the gradients of H and of the numbers to those of the inputs.
  [[nodiscard]] Step end() const {
    return {[t = *this](cudaStream_t on) { head_sums(t.h, t.dsl, t.dal, t.rows, t.features, on); },
            [t = *this](cudaStream_t on) { head_sums(t.h, t.dsr, t.dar, t.rows, t.features, on); },
            [t = *this](cudaStream_t on) {
              head_dots_gradient(t.dv, t.dsl, t.al, t.dsr, t.ar, t.dh, t.rows, t.features, on);
            },
            vendor_gemm<T>({x, true}, {dh}, dw, d, width, rows),
            vendor_gemm<T>({dh}, {w, true}, dx, rows, d, width)};
  }
};

void append(Step& step, Step more) {
  step.insert(step.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Side additive_layer(const Request& request, const DeviceGraph& graph, const Shape& shape,
                    Arrays<float>& arrays) {
  const Tensors<float> t(graph, shape, arrays);
  const std::int64_t heads = shape.heads, n = t.features.n;
  float *const statistics = arrays.array("statistics", 2 * t.rows * heads), *const delta = arrays.array(
                                                                                "delta", t.rows * heads);
  const PlanOptions options = {.n = 1, .m = n, .heads = shape.heads, .score = Score::additive};
  PlanOptions transposed = options;
  transposed.transpose = true;
  // Heads stand side by side in rows.
  const auto number = [&](float* data) { return Operand{data, heads, 1}; };
  const auto part = [&](float* data) { return Operand{data, t.width, n}; };
  Fastest forward = request.fastest(
      "attention", options,
      {.dense = {{number(t.sl), number(t.sr), part(t.h), {}, {statistics}, part(t.out)}}, .slope = kSlope});
  Plan gradient = request.plan("attention_gradient", options),
       turned = request.plan("attention_gradient_t", transposed);
  Side side;
  side.workspace_bytes = forward.workspace_bytes + gradient.workspace_bytes() + turned.workspace_bytes();
  side.forward = t.begin();
  side.forward.push_back(std::move(forward.launch));
  side.backward = {launch_of(std::move(gradient), {.dense = {{number(t.sl),
                                                              number(t.sr),
                                                              part(t.h),
                                                              {},
                                                              {statistics},
                                                              part(t.out),
                                                              part(t.dout),
                                                              {delta},
                                                              {},
                                                              number(t.dsl)}},
                                                   .slope = kSlope}),
                   launch_of(std::move(turned), {.dense = {{number(t.sl),
                                                            number(t.sr),
                                                            part(t.h),
                                                            {},
                                                            {statistics},
                                                            part(t.dout),
                                                            {delta},
                                                            part(t.dv),
                                                            number(t.dsr)}},
                                                 .slope = kSlope})};
  append(side.backward, t.end());
  return side;
}

template <class T>
Side vendor_additive_layer(const DeviceGraph& graph, const Shape& shape, Arrays<T>& arrays) {
  const Tensors<T> t(graph, shape, arrays);
  const Edges edges = graph.edges();
  const int heads = shape.heads;
  const std::int64_t all = edges.count * heads, n = t.features.n;
  T *const s = arrays.array("S", all), *const p = arrays.array("P", all), *const dp = arrays.array("dP", all),
           *const ds = arrays.array("dS", all), *const pt = arrays.array("P^T", all);
  Side side;
  side.forward = t.begin();
  side.forward.push_back([=](cudaStream_t on) { additive_scores(edges, t.sl, t.sr, s, kSlope, heads, on); });
  side.forward.push_back([=](cudaStream_t on) { softmax(edges, s, p, 1, heads, on); });
  const auto part = [&](T* data, int head) { return Rows<T>{data + head * n, t.width}; };
  for (int head = 0; head < heads; ++head)
    side.forward.push_back(vendor_spmm<T>(graph.with_values<T>(false, p + head * edges.count),
                                          part(t.h, head), part(t.out, head), n));
  for (int head = 0; head < heads; ++head)
    side.backward.push_back(vendor_sddmm<T>(graph.with_values<T>(false, dp + head * edges.count),
                                            part(t.dout, head), part(t.h, head), n));
  side.backward.push_back([=](cudaStream_t on) { softmax_gradient(edges, p, dp, ds, 1, heads, on); });
  side.backward.push_back(
      [=](cudaStream_t on) { additive_gradient(edges, t.sl, t.sr, ds, t.dsl, t.dsr, kSlope, heads, on); });
  side.backward.push_back([=](cudaStream_t on) { transpose(edges, p, pt, heads, on); });
  for (int head = 0; head < heads; ++head)
    side.backward.push_back(vendor_spmm<T>(graph.with_values<T>(true, pt + head * edges.count),
                                           part(t.dout, head), part(t.dv, head), n));
  append(side.backward, t.end());
  return side;
}
template Side vendor_additive_layer(const DeviceGraph&, const Shape&, Arrays<float>&);
template Side vendor_additive_layer(const DeviceGraph&, const Shape&, Arrays<double>&);

}  // namespace sptile::tools::layers
