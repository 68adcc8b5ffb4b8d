import { read, type RecipeTable } from './recipe.ts'

export const DEVICE_RECIPES: RecipeTable = {
  'GET /devices': read(
    () => '/devices',
    () => ({ expand: 'owner' }),
  ),
  'GET /devices/{id}': read(
    ({ device }) => `/devices/${device}`,
    () => ({ expand: 'owner' }),
  ),
  'GET /devices/{id}/timeline': read(({ device }) => `/devices/${device}/timeline`),
  'GET /devices/{id}/status_explanation': read(
    ({ device }) => `/devices/${device}/status_explanation`,
  ),
  'GET /devices/{id}/check_ins': read(({ device }) => `/devices/${device}/check_ins`),
  'GET /devices/{id}/open_issues': read(
    ({ device }) => `/devices/${device}/open_issues`,
    () => ({ expand: 'device,check' }),
  ),
  'GET /devices/{id}/check_results': read(
    ({ device }) => `/devices/${device}/check_results`,
    () => ({ expand: 'device,check' }),
  ),
  'DELETE /devices/{id}': {
    prepare: async (world) => ({ path: `/devices/${await world.newDevice()}` }),
  },
  'PATCH /devices/{id}': {
    prepare: async ({ newDevice }) => ({
      path: `/devices/${await newDevice()}`,
      body: { note: 'Spare **laptop**' },
    }),
  },
  'PATCH /devices/{id}/authentication_mode': {
    prepare: async ({ newDevice, ids }) => ({
      path: `/devices/${await newDevice()}/authentication_mode`,
      body: {
        authentication_mode: 'only_registered_owner_or_group_members',
        person_group_ids: [Number(ids.personGroup)],
      },
    }),
  },
  'DELETE /devices/{id}/registration': {
    prepare: async (world) => ({ path: `/devices/${await world.newDevice()}/registration` }),
  },
  'POST /devices/{id}/deletion_cancellation': {
    prepare: async (world) => {
      const device = await world.newDevice()
      await world.remove(`/devices/${device}`)
      return { path: `/devices/${device}/deletion_cancellation` }
    },
  },
  'POST /devices/{id}/check_refreshes': {
    prepare: ({ ids }) => ({
      path: `/devices/${ids.device}/check_refreshes`,
      body: { check_id: ids.check },
    }),
  },
  'GET /device_groups': read(() => '/device_groups'),
  'GET /device_groups/{id}': read(({ deviceGroup }) => `/device_groups/${deviceGroup}`),
  'GET /device_groups/{id}/devices': read(
    ({ deviceGroup }) => `/device_groups/${deviceGroup}/devices`,
    () => ({ expand: 'owner' }),
  ),
  'POST /device_groups': {
    prepare: ({ unique }) => ({ path: '/device_groups', body: { name: unique('Group') } }),
  },
  'PATCH /device_groups/{id}': {
    prepare: async ({ newDeviceGroup, unique }) => ({
      path: `/device_groups/${await newDeviceGroup()}`,
      body: { name: unique('Renamed'), description: 'Described.' },
    }),
  },
  'DELETE /device_groups/{id}': {
    prepare: async (world) => ({ path: `/device_groups/${await world.newDeviceGroup()}` }),
  },
  'POST /device_groups/{id}/memberships': {
    prepare: async ({ newDeviceGroup, ids }) => ({
      path: `/device_groups/${await newDeviceGroup()}/memberships`,
      body: { device_ids: [ids.device, Number(ids.spare)] },
    }),
  },
  'DELETE /device_groups/{id}/memberships/{device_id}': {
    prepare: async ({ newDeviceGroup, call, ids }) => {
      const path = `/device_groups/${await newDeviceGroup()}/memberships`
      await call('POST', path, { device_ids: [ids.device] })
      return { path: `${path}/${ids.device}` }
    },
  },
}
