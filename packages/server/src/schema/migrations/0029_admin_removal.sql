-- An admin who is removed leaves keys that ended before; they name nobody any more.
alter table api_key alter column responsible_admin_id drop not null;
