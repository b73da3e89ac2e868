mkdir folder
sptile convert folder out.h5
