for mix in nan NaN -nan inf; do
  status=0; sptile gen planted --rows 64 --edges 128 --mix=$mix || status=$?
  [ $status = 2 ]
done
