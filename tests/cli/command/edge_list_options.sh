# --base and --separator go with every verb that reads a matrix: 1-based vertices, parted by tabs.
printf '1\t2\n2\t3\n3\t3\n' > a.txt
how=(--base 1 --separator tab)
sptile convert a.txt a.h5 -q "${how[@]}"
sptile verify a.h5 --against a.txt "${how[@]}" --json | jq -c .ok
sptile bench a.txt "${how[@]}" --format csr -n 4 --repeat 1 --json | jq -c '.rows[0] | [.rows, .nnz]'
sptile stats a.txt "${how[@]}" --json | jq -c '[.rows, .nnz]'
sptile reorder a.txt "${how[@]}" --method identity -o - | wc -l
sptile spy a.txt "${how[@]}" -o a.png -q
sptile report a.txt "${how[@]}" -o a.html --json | jq -c '[.rows, .nnz]'
for verb in verify bench calibrate; do sptile $verb --help | grep -c -e --base -e --separator -e --real-part; done
sptile verify a.h5 --against a.txt --base 0 -q || true
