-- What a request did is looked for by its id. A hash is the smallest index that answers it.
create index audit_entry_request on audit_entry using hash (request_id);
