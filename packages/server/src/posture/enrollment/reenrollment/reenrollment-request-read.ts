import type { Kysely } from 'kysely'
import { RecordList, type RowOf } from '../../../platform/search/record-list.ts'
import type { Schema } from '../../../schema/schema.ts'

/** What may become of a machine that asks to enroll as a known device. */
export const REENROLLMENT_STATUSES = ['pending', 'approved', 'denied', 'completed'] as const

/** Why a machine waits for an approval. */
export const REENROLLMENT_REASONS = ['live_node_key', 'known_hardware', 'other_owner'] as const

/** Machines that ask to enroll as known devices. */
export const REENROLLMENT_REQUEST_LIST = new RecordList({
  noun: 're-enrollment request',
  table: 'reenrollment_request',
  fields: {
    status: { type: 'enum', values: REENROLLMENT_STATUSES },
    reason: { type: 'enum', values: REENROLLMENT_REASONS },
    device_id: 'id',
    host_identifier: 'text',
    requested_at: 'timestamp',
    updated_at: 'timestamp',
  },
  select: (db: Kysely<Schema>) => db.selectFrom('reenrollment_request').selectAll(),
})

/** A machine that asks to enroll as a known device, as the API shows it. */
export type ReenrollmentRequest = RowOf<typeof REENROLLMENT_REQUEST_LIST>
