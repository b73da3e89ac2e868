// Operands of several heads for tests: layout of the heads, and values of the matrix.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "runtime/operation/operation.hpp"
#include "tests/runtime/random_problem.hpp"

namespace sptile::test {

/// Layout of the heads of an operand.
enum class HeadLayout {
  consecutive,  ///< consecutive matrices with a gap
  interleaved   ///< interleaved in rows
};
inline constexpr HeadLayout kHeadLayouts[] = {HeadLayout::consecutive, HeadLayout::interleaved};

/// Origin of the values of the heads.
enum class HeadValues { of_matrix, shared, own };
inline constexpr HeadValues kHeadValues[] = {HeadValues::of_matrix, HeadValues::shared, HeadValues::own};

/// Unused elements between rows, and between consecutive heads.
struct HeadGaps {
  std::int64_t rows = 0, heads = 0;
};

/// One operand of all heads, and its memory with random numbers.
struct HeadOperand {
  runtime::Operand operand;
  std::vector<std::byte> bytes;

  HeadOperand(const runtime::OperandSpec& spec, const runtime::OperandSizes& sizes, HeadLayout layout,
              const HeadGaps& gaps, DType type, Random& random) {
    const runtime::OperandShape shape = shape_of(spec, sizes);
    const bool list = spec.extent == runtime::Extent::entries;
    const bool interleaved = layout == HeadLayout::interleaved && !list;
    operand.ld = list ? 1 : shape.width * (interleaved ? sizes.run.heads : 1) + gaps.rows;
    operand.batch = interleaved ? shape.width : shape.rows * operand.ld + gaps.heads;
    const formats::Array numbers =
        random_values((shape.rows + 1) * operand.ld + sizes.run.heads * operand.batch, type, random);
    const auto size = static_cast<std::size_t>(numbers.view().bytes());
    bytes.resize(size + alignof(std::max_align_t));
    std::memcpy(bytes.data(), numbers.data(), size);
    operand.data = bytes.data();
  }
};

}  // namespace sptile::test
