-- By itself: with the lock of the index that takes its place, changes that have read the table would wait for each other.
drop index delivery_subject;
