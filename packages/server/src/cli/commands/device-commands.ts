import { simulateChange } from '../../posture/checks/simulate-change.ts'
import { cancelDeviceDeletion } from '../../posture/devices/cancel-device-deletion.ts'
import { readmitHost } from '../../posture/devices/readmit-host.ts'
import { revokeDeviceNode } from '../../posture/devices/revoke-device-node.ts'
import { setDeviceOwner } from '../../posture/devices/set-device-owner.ts'
import { decideReenrollmentRequest } from '../../posture/enrollment/reenrollment/decide-reenrollment-request.ts'
import { toReenrollmentRequestJson } from '../../posture/enrollment/reenrollment/reenrollment-request-json.ts'
import { listUndecidedRequests } from '../../posture/enrollment/reenrollment/reenrollment-request-store.ts'
import { toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { choiceOption, option } from '../option.ts'

const DEVICE_OPTION = option('--device <id>', 'the device').required()

const simulate = databaseCommand({
  name: 'simulate-change',
  description: 'record a real result of a check made for it, so that the whole chain runs',
  options: {
    device: DEVICE_OPTION,
    to: choiceOption('--to <state>', 'what the result shall say', ['blocked', 'good']).required(),
  },
  run: ({ change, options }) =>
    change((tx) => simulateChange(tx, { deviceId: options.device, to: options.to })),
  text({ device_id, auth_state, other_open_issues }) {
    const others = other_open_issues.map((issue) => issue.title).join(', ')
    const lines = [`Device ${device_id} is ${auth_state}.`]
    return others === '' ? lines : [...lines, `Other open issues: ${others}.`]
  },
})

const setOwner = databaseCommand({
  name: 'set-owner',
  description: 'register a device to a person, who is created if need be',
  options: {
    device: DEVICE_OPTION,
    email: option('--email <email>', 'the person').required(),
    name: option('--name <name>', 'the name of a new person'),
  },
  async run({ change, options: { device, email, name } }) {
    const person = { email, ...(name === undefined ? {} : { name }) }
    await change((tx) => setDeviceOwner(tx, device, person))
    return { id: device, owner: email }
  },
  text: ({ id, owner }) => `Device ${id} is registered to ${owner}.`,
})

const revoke = databaseCommand({
  name: 'revoke <id>',
  description: 'end the enrollment of a device: its node key is refused from now on',
  async run({ args: { id }, change }) {
    await change((tx) => revokeDeviceNode(tx, id))
    return { id, revoked: true }
  },
  text: ({ id }) => `The enrollment of device ${id} has ended.`,
})

const cancelDeletion = databaseCommand({
  name: 'cancel-deletion <id>',
  description: 'keep a device that is to be deleted; its agent may enroll again',
  run: ({ args, change }) => change((tx) => cancelDeviceDeletion(tx, args.id)),
  json: ({ id }) => ({ id, deletion_due_at: null }),
  text: ({ name }) => `The device ${name} is kept.`,
})

const readmit = databaseCommand({
  name: 'readmit <host-identifier>',
  description: 'let the host of a deleted device enroll again with the secret that it has',
  run: ({ args, change }) => change((tx) => readmitHost(tx, args['host-identifier'])),
  json: ({ hostIdentifier }) => ({ host_identifier: hostIdentifier, readmitted: true }),
  text: ({ hostIdentifier }) => `The host ${hostIdentifier} may enroll again.`,
})

const reenrollments = databaseCommand({
  name: 'reenrollments',
  description: 'list the machines that wait to enroll as devices which are in use',
  run: async ({ services: { db, config } }) =>
    (await listUndecidedRequests(db)).map((request) => ({
      ...toReenrollmentRequestJson(config.baseUrl, request),
      device_id: request.deviceId,
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

const approveReenrollment = databaseCommand({
  name: 'approve-reenrollment <id>',
  description: 'let a machine that waits enroll as the device, once within 24 hours',
  run: ({ args, change }) => change((tx) => decideReenrollmentRequest(tx, args.id, 'approved')),
  json: ({ id, status, approvedUntil }) => ({ id, status, approved_until: approvedUntil }),
  text: ({ hostIdentifier, deviceId, approvedUntil }) =>
    `The machine ${hostIdentifier} may enroll as device ${deviceId} until ${approvedUntil?.toISOString() ?? 'now'}.`,
})

const denyReenrollment = databaseCommand({
  name: 'deny-reenrollment <id>',
  description: 'keep a machine that waits out until it is approved',
  run: ({ args, change }) => change((tx) => decideReenrollmentRequest(tx, args.id, 'denied')),
  json: ({ id, status }) => ({ id, status }),
  text: ({ hostIdentifier }) => `The machine ${hostIdentifier} is kept out.`,
})

/** `heliograph devices simulate-change|set-owner|cancel-deletion|readmit|revoke|...`. */
export const definition = commandGroup([
  simulate,
  setOwner,
  cancelDeletion,
  readmit,
  revoke,
  reenrollments,
  approveReenrollment,
  denyReenrollment,
])
