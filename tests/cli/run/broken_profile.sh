sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
printf 'sptile-profile 1\ndevice cpu 0 test\nnumber cpu.csr.generic fp32 launch fast\n' > profile.tsv
SPTILE_PROFILE=profile.tsv sptile run a.h5
