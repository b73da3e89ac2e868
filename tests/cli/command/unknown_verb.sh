sptile covnert a.mtx a.h5
