#include "runtime/cuda/families/families.hpp"

#include "runtime/cuda/families/attention/attention.hpp"
#include "runtime/cuda/families/csr/csr.hpp"
#include "runtime/cuda/families/reduce/reduce.hpp"
#include "runtime/cuda/families/sddmm/sddmm.hpp"
#include "runtime/cuda/families/tall/tall.hpp"
#include "runtime/cuda/families/tile/tile.hpp"
#include "runtime/cuda/families/update/update.hpp"
#include "runtime/cuda/papers/acc/acc.hpp"
#include "runtime/cuda/papers/bulk/bulk.hpp"
#include "runtime/cuda/papers/hygnn/hygnn.hpp"
#include "runtime/cuda/papers/libra_streams/libra_streams.hpp"
#include "runtime/cuda/papers/rsh/rsh.hpp"

namespace sptile::runtime::cuda {
namespace {
constexpr Family kFamilies[] = {
    csr_rows,           bulk_rows, hygnn_rows,        tile_rows,
    libra_streams_rows, tall_rows, sddmm_kernel_rows, attention_kernel_rows,
    update_rows,        acc_rows,  rsh_rows,          reduce_kernel_rows,
};
}  // namespace

std::span<const Family> families() { return kFamilies; }

}  // namespace sptile::runtime::cuda
