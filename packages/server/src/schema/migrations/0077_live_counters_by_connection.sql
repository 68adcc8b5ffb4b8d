-- Counters of live queries are spread by the connection that counts, as those of checks are (0074): devices whose answers are
-- committed together are in every stripe by device, so that each such commit waited for the one before, to its end. A
-- stripe alone says nothing from now on, and may be below zero: what counts is their sum.
create or replace function live_query_target_leaves_counter() returns trigger language plpgsql as $$
begin
  perform from live_query_counter counter
    where campaign_id in (select campaign_id from removed) and stripe = counter_stripe()
    order by campaign_id for update of counter;
  update live_query_counter counter
    set waiting = counter.waiting - gone.waiting,
      successful = counter.successful - gone.successful,
      errored = counter.errored - gone.errored
    from (
      select campaign_id,
        count(*) filter (where state = 'waiting') as waiting,
        count(*) filter (where state = 'successful') as successful,
        count(*) filter (where state = 'errored') as errored
      from removed group by 1) gone
    where counter.campaign_id = gone.campaign_id and counter.stripe = counter_stripe();
  return null;
end
$$;
