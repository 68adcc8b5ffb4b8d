import { parseName } from '../../platform/parse-text.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import {
  createDeviceGroup,
  deleteDeviceGroup,
} from '../../posture/device-groups/change-device-groups.ts'
import { toDeviceGroupJson } from '../../posture/device-groups/device-group-json.ts'
import { DEVICE_GROUP_LIST } from '../../posture/device-groups/device-group-read.ts'
import { EVERYTHING, toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { option } from '../option.ts'

const create = databaseCommand({
  name: 'create',
  description: 'create a device group',
  options: {
    name: option('--name <name>', 'what the group is called').required(),
    description: option('--description <text>', 'what the group is for').default(''),
  },
  run({ change, options }) {
    const name = parseName(options.name, 'name')
    const description = toStorableText(options.description.trim())
    return change((tx) => createDeviceGroup(tx, { name, description }))
  },
  json: toDeviceGroupJson,
  text: ({ name, id }) => `Created the device group ${name} (${id}).`,
})

const list = databaseCommand({
  name: 'list',
  description: 'list the device groups',
  run: async ({ services }) =>
    (await DEVICE_GROUP_LIST.listPage(services.db, { search: undefined, window: EVERYTHING })).map(
      toDeviceGroupJson,
    ),
  text: (groups) =>
    toTable(groups, {
      ID: ({ id }) => id,
      NAME: ({ name }) => name,
      MEMBERS: (group) => String(group.members_count),
      DESCRIPTION: ({ description }) => description,
    }),
})

const remove = databaseCommand({
  name: 'delete <id>',
  description: 'delete a device group; refused while checks are configured for it',
  run: ({ args, change }) => change((tx) => deleteDeviceGroup(tx, args.id)),
  json: toDeviceGroupJson,
  text: ({ name }) => `Deleted the device group ${name}.`,
})

/** `heliograph device-groups create|list|delete`. */
export const definition = commandGroup([create, list, remove])
