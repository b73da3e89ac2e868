sptile gen random --rows 300 --cols 100 --nnz 2000 -o a.mtx -q
sptile spy a.mtx -o a.png --reorder degree --size 90 --json |
  json-has rows=300 cols=100 nnz=2000 width=72 height=90 panels=2 'reorder="degree"'
