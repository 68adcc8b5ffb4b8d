-- Results and issues are searched by their times through the round of their device. What is left to find are those
-- that have a time of their own, and the order of the issues that follow a round. Neither index has a column that
-- a round writes: an update stays within its page.

create index check_result_out_of_round on check_result (check_id, id)
  where not (follows_round and status not in ('pending', 'out_of_scope'));
create index issue_in_round on issue ((id + 0)) where follows_round and resolved_at is null;
