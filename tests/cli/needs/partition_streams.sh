# A bundle of 210 MiB is cut by rows in the memory of a part, twice, of the index and of the program.
sptile gen stencil27 --side 100 --dof 1 -o a.h5 -q
[ "$(stat -c %s a.h5)" -gt 210000000 ]
peak-memory 130 sptile partition a.h5 --parts 16 --method rows -o parts -q --threads 2
sptile verify parts -q
