sptile plan a.h5 -n 32,0
