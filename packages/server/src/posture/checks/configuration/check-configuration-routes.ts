import { z } from 'zod'
import type { Foundation } from '../../../changes/foundation.ts'
import { changeRoute } from '../../../changes/change-routes.ts'
import { parseId } from '../../../platform/ids.ts'
import { listRecords, route, type ApiRoute } from '../../../schema/operations.ts'
import { CHECK_LIST } from '../check-read.ts'
import { configureCheckBody } from './check-configuration-input.ts'
import { checkConfigurationSchema, toCheckConfigurationJson } from './check-configuration-json.ts'
import { getCheckConfiguration } from './check-configuration-store.ts'
import { configureCheck } from './configure-check.ts'
import { configurationChangeResource } from './history/configuration-change-json.ts'
import { isChangeOf } from './history/configuration-change-store.ts'
import { undoConfiguration } from './history/undo-configuration.ts'

export type CheckConfigurationDependencies = Pick<Foundation, 'db' | 'runChange'>

/** Reading and changing how checks are configured. What is changed moves the scope of checks (`scope-turns.ts`). */
export function checkConfigurationRoutes({
  db,
  runChange,
}: CheckConfigurationDependencies): ApiRoute[] {
  const tags = ['Checks']
  return [
    route({
      method: 'GET',
      path: '/checks/:id/configurations',
      summary: 'Show the configuration of a check',
      tags,
      permission: null,
      responses: { 200: checkConfigurationSchema },
      handler: async ({ params }) =>
        toCheckConfigurationJson(await getCheckConfiguration(db, parseId(params.id, 'check'))),
    }),
    changeRoute(runChange, {
      method: 'PATCH',
      path: '/checks/:id/configurations',
      stepUp: true,
      summary: 'Configure a check',
      description:
        'Members that are left out stay as they are. Results, issues and the statuses of devices follow at once.',
      tags,
      permission: 'Manage Checks',
      body: configureCheckBody,
      example: {
        body: { remediation_strategy: 'warn_then_block', block_auth_grace_period_days: 7 },
      },
      responses: { 200: checkConfigurationSchema },
      handler: async ({ change, params, body }) => {
        const checkId = parseId(params.id, 'check')
        return toCheckConfigurationJson(await configureCheck(change, checkId, body))
      },
    }),
    ...configurationHistoryRoutes({ db, runChange }),
  ]
}

const lastRevision = z.coerce
  .number()
  .int()
  .positive()
  .optional()
  .describe('The revision that is taken back: refused where another has followed it.')

function configurationHistoryRoutes({ db, runChange }: CheckConfigurationDependencies): ApiRoute[] {
  const tags = ['Checks']
  return [
    listRecords(configurationChangeResource(db), {
      path: '/checks/:id/configurations/history',
      summary: 'List the changes of the configuration of a check',
      tags,
      permission: null,
      scope: async ({ id }) => isChangeOf((await CHECK_LIST.get(db, id)).id),
    }),
    changeRoute(runChange, {
      method: 'POST',
      path: '/checks/:id/configurations/undo',
      stepUp: true,
      summary: 'Undo the last change of the configuration of a check',
      description:
        'Within an hour of the change. The check is configured as it was before; results, issues and statuses follow at once. Undoing is a change itself, and can be undone.',
      query: z.object({ revision: lastRevision }),
      tags,
      permission: 'Manage Checks',
      responses: { 200: checkConfigurationSchema },
      handler: async ({ change, params, query }) =>
        toCheckConfigurationJson(
          await undoConfiguration(change, parseId(params.id, 'check'), query.revision),
        ),
    }),
  ]
}
