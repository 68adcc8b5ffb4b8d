-- Substrings of any length, one letter included: one kind of index for all texts of long lists, as
-- platform/search/text-grams.ts asks for it.

-- Every one, two and three characters in a row of a text, in lower case, as a number: their code points,
-- 21 bits each. With a tag, texts of several kinds share an index. Besides, the text as a whole, by its
-- hash. Behind 4096 characters a text is no longer looked into, and is marked by -1.
create function text_grams(value text, tag bigint default 0) returns bigint[]
language plpgsql immutable strict parallel safe cost 1000 as $$
declare
  letter text;
  recent bigint := 0;
  grams bigint[] := array[tag # hashtextextended(value, 1)];
begin
  foreach letter in array string_to_array(lower(left(value, 4096)), null) loop
    recent := ((recent & 4398046511103) << 21) | ascii(letter);
    grams := grams || (tag # (recent & 2097151));
    grams := grams || (tag # (recent & 4398046511103));
    grams := grams || (tag # recent);
  end loop;
  if length(value) > 4096 then
    grams := grams || (tag # -1);
  end if;
  return grams;
end $$;

-- The grams of every member of an object of texts, apart by scope and member.
create function member_grams(scope text, members jsonb) returns bigint[]
language plpgsql immutable strict parallel safe cost 10000 as $$
declare
  member record;
  grams bigint[] := '{}';
begin
  for member in select key, value from jsonb_each_text(members) where value is not null loop
    grams := grams || public.text_grams(
      member.value, hashtextextended(member.key, hashtextextended(scope, 0)));
  end loop;
  return grams;
end $$;

drop index device_name_trgm;
drop index device_serial_trgm;
drop index device_note_trgm;
drop index device_hardware_uuid_trgm;
drop index person_name_trgm;
drop index person_email_trgm;
drop index issue_value_trgm;
drop index issue_issue_value;
drop index issue_issue_value_grams;
drop index audit_entry_description_trgm;
drop index audit_entry_description;
drop index audit_entry_description_grams;
drop index auth_log_session_ip_address_trgm;
drop index auth_log_session_ip_address;
drop index auth_log_session_ip_address_grams;
drop index auth_log_session_person_name_trgm;
drop index auth_log_session_person_name;
drop index auth_log_session_person_name_grams;
drop index auth_log_session_person_email_trgm;
drop index auth_log_session_person_email;
drop index auth_log_session_person_email_grams;
drop index exemption_request_message_trgm;
drop index registration_request_message_trgm;
drop index live_query_result_error_trgm;
drop index live_query_result_warning_trgm;
drop index reporting_record_columns_trgm;
drop function short_grams;

create index device_name_grams on device using gin (text_grams(name));
create index device_serial_grams on device using gin (text_grams(serial));
create index device_note_grams on device using gin (text_grams(note));
create index device_hardware_uuid_grams on device using gin (text_grams(hardware_uuid));
create index person_name_grams on person using gin (text_grams(name));
create index person_email_grams on person using gin (text_grams(email));
create index issue_issue_value_grams on issue using gin (text_grams(issue_value));
create index audit_entry_description_grams on audit_entry using gin (text_grams(description));
create index auth_log_session_ip_address_grams on auth_log_session
  using gin (text_grams(ip_address));
create index auth_log_session_person_name_grams on auth_log_session
  using gin (text_grams(person_name));
create index auth_log_session_person_email_grams on auth_log_session
  using gin (text_grams(person_email));
create index exemption_request_message_grams on exemption_request
  using gin (text_grams(requester_message));
create index registration_request_message_grams on registration_request
  using gin (text_grams(requester_message));
create index live_query_result_error_grams on live_query_result
  using gin (text_grams(error_message)) where error_message is not null;
create index live_query_result_warning_grams on live_query_result
  using gin (text_grams(warning_message)) where warning_message is not null;
create index reporting_record_grams on reporting_record
  using gin (member_grams(table_name, columns));
