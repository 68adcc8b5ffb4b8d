-- A delivery is rewritten twice within moments, when it is claimed and when its outcome is recorded: half of a page
-- stays free for that, so that the versions of a row are on one page and the log holds only what differs.
alter table delivery set (fillfactor = 50);
