-- Streams whose events name devices by `opaque` identifiers, for receivers that cannot read `iss_sub`.
-- A process of the version before knows nothing of it and goes on to send `iss_sub`.

alter table ssf_stream add column has_opaque_identifiers boolean not null default false;
