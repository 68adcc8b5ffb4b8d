import { simulateChange } from '../../posture/checks/simulate-change.ts'
import { revokeDeviceNode } from '../../posture/devices/revoke-device-node.ts'
import { setDeviceOwner } from '../../posture/devices/set-device-owner.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { choiceOption, option } from '../option.ts'
import {
  approveReenrollmentCommand,
  denyReenrollmentCommand,
  listReenrollmentsCommand,
} from './reenrollment-commands.ts'
import { cancelDeletionCommand, readmitCommand } from './device-removal-commands.ts'

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

/** `heliograph devices simulate-change|set-owner|cancel-deletion|readmit|revoke|...`. */
export const deviceCommands = commandGroup([
  simulate,
  setOwner,
  cancelDeletionCommand,
  readmitCommand,
  revoke,
  listReenrollmentsCommand,
  approveReenrollmentCommand,
  denyReenrollmentCommand,
])
