sptile bench --plot out.svg
