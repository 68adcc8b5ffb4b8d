-- Commands need not prepare again what is prepared already.

alter table organisation add column prepared_for text;

comment on column organisation.prepared_for is
  'Fingerprint of the program and the master keys that this database was last prepared for; null before.';
