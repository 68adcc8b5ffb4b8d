import type { Foundation } from '../../../changes/foundation.ts'
import { notFound } from '../../../platform/app-error.ts'
import { parseId } from '../../../platform/ids.ts'
import { toWire } from '../../../platform/wire/to-wire.ts'
import { route, type ApiRoute } from '../../../schema/operations.ts'
import {
  deviceCheckInsSchema,
  statusExplanationSchema,
  toStatusExplanationJson,
} from './explanation-json.ts'
import { explainStatus } from './explain-status.ts'
import { findCheckIns } from './explanation-read.ts'

/** Why a device has its status, and when it was last heard of. */
export function deviceExplanationRoutes({
  db,
  clock,
}: Pick<Foundation, 'db' | 'clock'>): ApiRoute[] {
  const access = { method: 'GET', tags: ['Devices'], permission: null } as const
  return [
    route({
      ...access,
      path: '/devices/:id/status_explanation',
      summary: 'Explain the status of a device',
      description:
        'The state and why in one sentence, the issues behind it with what each does, what would change it, and what time alone will change next.',
      responses: { 200: statusExplanationSchema },
      handler: async ({ params }) =>
        toStatusExplanationJson(await explainStatus(db, parseId(params.id, 'device'), clock.now())),
    }),
    route({
      ...access,
      path: '/devices/:id/check_ins',
      summary: 'Show when a device was last heard of',
      responses: { 200: deviceCheckInsSchema },
      handler: async ({ params }) => {
        const id = parseId(params.id, 'device')
        const found = await findCheckIns(db, id)
        if (found === undefined) throw notFound('device', id)
        return toWire(deviceCheckInsSchema, found, { device_id: id })
      },
    }),
  ]
}
