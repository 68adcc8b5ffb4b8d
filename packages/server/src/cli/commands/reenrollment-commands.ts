import { decideReenrollmentRequest } from '../../posture/enrollment/reenrollment/decide-reenrollment-request.ts'
import { toReenrollmentRequestJson } from '../../posture/enrollment/reenrollment/reenrollment-request-json.ts'
import { listUndecidedRequests } from '../../posture/enrollment/reenrollment/reenrollment-request-store.ts'
import { toTable } from '../command-io.ts'
import { databaseCommand } from '../command.ts'

/** `heliograph devices reenrollments`. */
export const listReenrollmentsCommand = databaseCommand({
  name: 'reenrollments',
  description: 'list the machines that wait to enroll as devices which are in use',
  run: async ({ services: { db, config } }) =>
    (await listUndecidedRequests(db)).map((request) => ({
      ...toReenrollmentRequestJson(config.baseUrl, request),
      device_id: request.device_id,
    })),
  text: (requests) =>
    toTable(requests, {
      ID: ({ id }) => id,
      DEVICE: (request) => request.device_id,
      REASON: ({ reason }) => reason,
      'HOST IDENTIFIER': (request) => request.host_identifier,
      FROM: (request) => request.ip_address ?? '-',
      'DEVICE WAS AT': (request) => request.known_ip_address ?? '-',
      ATTEMPTS: (request) => String(request.attempts_count),
      'FIRST ASKED': (request) => request.requested_at,
    }),
})

/** `heliograph devices approve-reenrollment`. */
export const approveReenrollmentCommand = databaseCommand({
  name: 'approve-reenrollment <id>',
  description: 'let a machine that waits enroll as the device, once within 24 hours',
  run: ({ args, change }) => change((tx) => decideReenrollmentRequest(tx, args.id, 'approved')),
  json: ({ id, status, approved_until }) => ({ id, status, approved_until }),
  text: ({ host_identifier, device_id, approved_until }) =>
    `The machine ${host_identifier} may enroll as device ${device_id} until ${approved_until?.toISOString() ?? 'now'}.`,
})

/** `heliograph devices deny-reenrollment`. */
export const denyReenrollmentCommand = databaseCommand({
  name: 'deny-reenrollment <id>',
  description: 'keep a machine that waits out until it is approved',
  run: ({ args, change }) => change((tx) => decideReenrollmentRequest(tx, args.id, 'denied')),
  json: ({ id, status }) => ({ id, status }),
  text: ({ host_identifier }) => `The machine ${host_identifier} is kept out.`,
})
