sptile run a.h5 --transpose --op sddmm
