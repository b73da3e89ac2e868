sptile gen grid2d --side 15 -o a.mtx -q
heights() { sptile bench a.mtx -n 4 --repeat 1 --json "$@" | jq -c '[.rows[] | [.reorder, .window_rows]] | unique'; }
# The height that all formats share, if an ordering depends on it.
heights --format bmat,me_tcf --reorder identity,loa
heights --format bmat,bittcf --reorder loa
heights --format bmat --reorder identity,rcm
heights --format bmat --reorder loa --window-rows 4
