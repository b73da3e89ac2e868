sptile info --jsn a.h5
