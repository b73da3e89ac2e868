sptile convert nowhere.mtx out.h5
