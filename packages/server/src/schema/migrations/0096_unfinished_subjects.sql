-- What a subject waits for is found by this index alone: the queue in the order of its times has another condition, and
-- in a quiet hour, when both are empty, PostgreSQL cannot tell them apart and might plan to read the queue for each
-- subject. It takes the place of the index of what is queued, also for statements that ask for that.
create index delivery_unfinished_subject on delivery (destination_id, subject_key, id)
  where state not in ('delivered', 'dead', 'discarded');
