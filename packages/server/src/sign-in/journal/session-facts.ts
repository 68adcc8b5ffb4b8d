/*
 * What is known about a sign-in, and what of it follows from its device: the status at the beginning
 * and the issues that the person is shown.
 */
import type { Transaction } from 'kysely'
import { listStatusIssues, type StatusIssue } from '../../posture/issues/issue-store.ts'
import { invalidBody, type AppError } from '../../platform/app-error.ts'
import type { Schema } from '../../schema/schema.ts'
import type { AuthLogEvent, DisplayedIssue } from '../../schema/tables/sign-in-tables.ts'
import type { AuthLogRecord } from './auth-log-read.ts'
import { findSignInDevice } from './session-store.ts'

/** Facts that are known at the beginning of a sign-in or become known on its way. */
export interface SessionFacts {
  readonly deviceId?: string | undefined
  /** Those that are absent stay as they are. */
  readonly columns: Partial<
    Pick<
      AuthLogRecord,
      | 'ipAddress'
      | 'agentVersion'
      | 'country'
      | 'city'
      | 'browserName'
      | 'browserVersion'
      | 'browserUserAgent'
      | 'appInstanceId'
      | 'appName'
    >
  >
}

/** A step of a sign-in as its caller tells it. */
export interface NewSessionEvent {
  readonly type: string
  readonly description: string
  /** Default: the time of the change. */
  readonly timestamp?: Date | undefined
}

/** Steps that one sign-in can have. */
export const SESSION_EVENTS_MAX = 200

/** The form in which an event is stored and shown. */
export function toStoredEvent(event: NewSessionEvent, at: Date): AuthLogEvent {
  return {
    timestamp: (event.timestamp ?? at).toISOString(),
    event_type: event.type,
    event_description: event.description,
  }
}

type InitialStatus = 'all_good' | 'will_block' | 'blocked' | 'unknown'

const STATUS_OF_STATE: Readonly<Record<string, InitialStatus>> = {
  Good: 'all_good',
  Notified: 'all_good',
  'Will Block': 'will_block',
  Blocked: 'blocked',
}

/**
 * What follows from the device that a sign-in is made from.
 *
 * @throws AppError `invalid_body` for a device that does not exist
 */
export async function readDeviceColumns(tx: Transaction<Schema>, deviceId: string, at: Date) {
  const device = await findSignInDevice(tx, deviceId)
  if (device === undefined) throw invalidDevice(deviceId)
  const issues = await listStatusIssues(tx, [device.id])
  const displayed = issues.flatMap((issue) => toDisplayedIssue(issue, at) ?? [])
  return {
    deviceId: device.id,
    initialStatus: STATUS_OF_STATE[device.authState] ?? ('unknown' as const),
    issuesDisplayed: JSON.stringify(displayed),
  }
}

function toDisplayedIssue(issue: StatusIssue, at: Date): DisplayedIssue | undefined {
  const { blocksDeviceAt, exemptedAt, exemptionExpiresAt } = issue
  const isExempted = exemptedAt !== null && (exemptionExpiresAt === null || exemptionExpiresAt > at)
  if (blocksDeviceAt === null || isExempted) return undefined
  return {
    id: issue.issueId,
    title: issue.issueTitle,
    blocking_status: blocksDeviceAt <= at ? 'blocked' : 'will_block',
  }
}

function invalidDevice(deviceId: string): AppError {
  return invalidBody([{ path: 'device_id', message: `There is no device ${deviceId}.` }])
}
