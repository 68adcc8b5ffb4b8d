import { sql, type Expression, type SqlBool } from 'kysely'

/** That a device is registered to a person, as a condition on devices. */
export function isRegisteredTo(personId: string): Expression<SqlBool> {
  return sql<SqlBool>`(device.owner_person_id = ${personId} and device.registered_at is not null)`
}

/** That an issue is open and of a person or of a device of theirs, as a condition on issues. */
export function isOpenIssueOf(personId: string): Expression<SqlBool> {
  // Two searches by an index each: as one condition joined with "or" it would be read for every issue.
  return sql<SqlBool>`issue.id = any(array(
    select issue.id from issue where issue.person_id = ${personId} and issue.resolved_at is null
    union all
    select issue.id from issue join device on device.id = issue.device_id
    where ${isRegisteredTo(personId)} and issue.resolved_at is null))`
}
