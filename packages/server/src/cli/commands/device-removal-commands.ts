import type { Command } from 'commander'
import { cancelDeviceDeletion } from '../../posture/devices/cancel-device-deletion.ts'
import { readmitHost } from '../../posture/devices/readmit-host.ts'
import { printJson, printLine, type CommandIo } from '../command-io.ts'
import { COMMAND_LINE_ORIGIN, runWithServices, withDatabaseFlags } from '../run-command.ts'

/** `heliograph devices cancel-deletion|readmit`. */
export function addDeviceRemovalCommands(devices: Command, io: CommandIo): void {
  withDatabaseFlags(devices.command('cancel-deletion <id>'))
    .description('keep a device that is to be deleted; its agent may enroll again')
    .action(async (id: string, options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const device = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          cancelDeviceDeletion(change, id),
        )
        if (options.json) printJson(io, { id: device.id, deletion_due_at: null })
        else printLine(io, `The device ${device.name} is kept.`)
      })
    })
  withDatabaseFlags(devices.command('readmit <host-identifier>'))
    .description('let the host of a deleted device enroll again with the secret that it has')
    .action(async (hostIdentifier: string, options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const host = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          readmitHost(change, hostIdentifier),
        )
        if (options.json) printJson(io, { host_identifier: host.host_identifier, readmitted: true })
        else printLine(io, `The host ${host.host_identifier} may enroll again.`)
      })
    })
}
