# The chosen format and the reason; without a model, the command to run.
export XDG_CONFIG_HOME=$PWD
sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q --format bittcf,bmat
printf 'sptile-profile 1\ndevice cpu 0 test\n' > empty.tsv
SPTILE_PROFILE=empty.tsv sptile run a.h5 -n 4 | tail -1
{
  printf 'sptile-profile 1\ndevice cpu 0 test\n'
  for isa in generic avx2 avx512 neon sve; do
    printf 'number cpu.csr.%s fp32 launch 20\nnumber cpu.bmat.%s fp32 launch 10\n' $isa $isa
  done
} > profile.tsv
SPTILE_PROFILE=profile.tsv sptile run a.h5 -n 4 --json | jq -r .why | sed -E 's/(generic|avx2|avx512|neon|sve)/ISA/'
SPTILE_PROFILE=empty.tsv sptile run a.h5 -n 4 --format csr,bmat --choose measured --json | jq -r .why | cut -d' ' -f1-3
sptile run a.h5 -n 4 --format csr --json | jq -c .why
