mkdir downloads papers
sptile gen grid2d --side 5 -o downloads/grid.mtx -q
printf 'name\tcollection\turl\tfigures\nG/grid\tSuiteSparse\t\tfig. 7\nG/other\tSuiteSparse\thttps://example.org/other\t\n' > papers/acc.tsv
sptile bench --suite acc --device cpu --matrices downloads --experiment fig13
rm downloads/grid.mtx
sptile bench --suite acc --device cpu --matrices downloads
