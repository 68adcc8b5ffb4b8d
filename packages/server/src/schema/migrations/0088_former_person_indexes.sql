-- By itself: with the lock of the indexes that take their place, changes that have read the table would wait for each other.
drop index person_user_name_key, person_effective_user_name;
