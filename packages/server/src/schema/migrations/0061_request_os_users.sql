-- The user of the operating system as whom the proof saw whoever asks for a registration: an approval is of that one.
alter table registration_request
  add column os_uid text,
  add column os_user_name text,
  add constraint registration_request_os_user check ((os_uid is null) = (os_user_name is null));
