import { Option, type Command } from 'commander'
import { simulateChange } from '../../posture/checks/simulate-change.ts'
import { revokeDeviceNode } from '../../posture/devices/revoke-device-node.ts'
import { setDeviceOwner } from '../../posture/devices/set-device-owner.ts'
import { printJson, printLine, type CommandIo } from '../command-io.ts'
import { COMMAND_LINE_ORIGIN, runWithServices, withDatabaseFlags } from '../run-command.ts'
import { addDeviceRemovalCommands } from './device-removal-commands.ts'

interface SimulateOptions {
  device: string
  to: 'blocked' | 'good'
  json?: true
}

interface OwnerOptions {
  device: string
  email: string
  name?: string
  json?: true
}

/** `heliograph devices simulate-change|set-owner|revoke|cancel-deletion|readmit`. */
export function addDeviceCommands(program: Command, io: CommandIo): void {
  const devices = program.command('devices').description('Devices')
  addSimulateChange(devices, io)
  addSetOwner(devices, io)
  addDeviceRemovalCommands(devices, io)
  withDatabaseFlags(devices.command('revoke <id>'))
    .description('end the enrollment of a device: its node key is refused from now on')
    .action(async (id: string, options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        await runChange(COMMAND_LINE_ORIGIN, (change) => revokeDeviceNode(change, id))
        if (options.json) printJson(io, { id, revoked: true })
        else printLine(io, `The enrollment of device ${id} has ended.`)
      })
    })
}

function addSimulateChange(devices: Command, io: CommandIo): void {
  withDatabaseFlags(devices.command('simulate-change'))
    .description('record a real result of a check made for it, so that the whole chain runs')
    .requiredOption('--device <id>', 'the device')
    .addOption(
      new Option('--to <state>', 'what the result shall say')
        .choices(['blocked', 'good'])
        .makeOptionMandatory(),
    )
    .action(async (options: SimulateOptions, command: Command) => {
      await runWithServices(io, command, async ({ runChange, status }) => {
        const simulated = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          simulateChange(change, status, { deviceId: options.device, to: options.to }),
        )
        if (options.json) printJson(io, simulated)
        else {
          const others = simulated.other_open_issues.map((issue) => issue.title).join(', ')
          printLine(io, `Device ${simulated.device_id} is ${simulated.auth_state}.`)
          if (others !== '') printLine(io, `Other open issues: ${others}.`)
        }
      })
    })
}

function addSetOwner(devices: Command, io: CommandIo): void {
  withDatabaseFlags(devices.command('set-owner'))
    .description('register a device to a person, who is created if need be')
    .requiredOption('--device <id>', 'the device')
    .requiredOption('--email <email>', 'the person')
    .option('--name <name>', 'the name of a new person')
    .action(async (options: OwnerOptions, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const { device, email, name } = options
        await runChange(COMMAND_LINE_ORIGIN, (change) =>
          setDeviceOwner(change, device, {
            email,
            ...(name === undefined ? {} : { name }),
          }),
        )
        if (options.json) printJson(io, { id: device, owner: email })
        else printLine(io, `Device ${device} is registered to ${email}.`)
      })
    })
}
