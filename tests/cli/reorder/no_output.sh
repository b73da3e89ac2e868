# Without an output, the verb prints what would change and writes nothing.
cp "$ROOT/data/examples/us_states.mtx" .
sptile reorder us_states.mtx --method rcm
sptile reorder us_states.mtx --method rcm --json | jq -c '[.output, .permutation, .changed]'
ls
