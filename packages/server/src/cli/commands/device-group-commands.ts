import type { Command } from 'commander'
import {
  createDeviceGroup,
  deleteDeviceGroup,
} from '../../posture/device-groups/change-device-groups.ts'
import { toDeviceGroupJson } from '../../posture/device-groups/device-group-json.ts'
import { listDeviceGroups } from '../../posture/device-groups/device-group-read.ts'
import { parseName } from '../../platform/parse-text.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import { printJson, printLine, printTable, type CommandIo } from '../command-io.ts'
import { COMMAND_LINE_ORIGIN, runWithServices, withDatabaseFlags } from '../run-command.ts'

interface CreateOptions {
  name: string
  description: string
  json?: true
}

/** More groups than anybody reads in a terminal. */
const SHOWN_MAX = 10_000

/** `heliograph device-groups create|list|delete`. */
export function addDeviceGroupCommands(program: Command, io: CommandIo): void {
  const groups = program.command('device-groups').description('Groups of devices')
  addCreate(groups, io)
  withDatabaseFlags(groups.command('list'))
    .description('list the device groups')
    .action(async (options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ db }) => {
        const window = { afterId: undefined, limit: SHOWN_MAX }
        const all = (await listDeviceGroups(db, undefined, window)).map(toDeviceGroupJson)
        if (options.json) printJson(io, all)
        else {
          printTable(
            io,
            ['ID', 'NAME', 'MEMBERS', 'DESCRIPTION'],
            all.map((group) => [
              group.id,
              group.name,
              String(group.members_count),
              group.description,
            ]),
          )
        }
      })
    })
  withDatabaseFlags(groups.command('delete <id>'))
    .description('delete a device group; refused while checks are configured for it')
    .action(async (id: string, options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const group = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          deleteDeviceGroup(change, id),
        )
        if (options.json) printJson(io, toDeviceGroupJson(group))
        else printLine(io, `Deleted the device group ${group.name}.`)
      })
    })
}

function addCreate(groups: Command, io: CommandIo): void {
  withDatabaseFlags(groups.command('create'))
    .description('create a device group')
    .requiredOption('--name <name>', 'what the group is called')
    .option('--description <text>', 'what the group is for', '')
    .action(async (options: CreateOptions, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const input = {
          name: parseName(options.name, 'name'),
          description: toStorableText(options.description.trim()),
        }
        const group = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          createDeviceGroup(change, input),
        )
        if (options.json) printJson(io, toDeviceGroupJson(group))
        else printLine(io, `Created the device group ${group.name} (${group.id}).`)
      })
    })
}
