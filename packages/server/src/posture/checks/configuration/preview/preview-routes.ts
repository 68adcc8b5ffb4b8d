import { z } from 'zod'
import { parseId } from '../../../../platform/ids.ts'
import { route, type ApiRoute } from '../../../../schema/operations.ts'
import { configureCheckBody } from '../check-configuration-input.ts'
import { configurationPreviewSchema, toConfigurationPreviewJson } from './preview-json.ts'
import type { Previewer } from './shared-previews.ts'

const PER_PAGE_MAX = 100
const PER_PAGE_USUAL = 25

const moveQuery = z.object({
  after: z
    .string()
    .regex(/^[1-9]\d{0,17}$/, 'Must be the `next_after` of the page before')
    .optional()
    .describe('Shows the devices that move after this one.'),
  per_page: z.coerce.number().int().min(1).max(PER_PAGE_MAX).default(PER_PAGE_USUAL),
})

/** Seeing what a configuration would do before it is made. */
export function configurationPreviewRoutes(preview: Previewer): ApiRoute[] {
  return [
    route({
      method: 'POST',
      path: '/checks/:id/configurations/preview',
      summary: 'Preview the configuration of a check',
      description:
        'Takes the body that configures the check and says what it would do at this moment: how many devices are at which stage before and after, and which would move from which status to which. Nothing is changed. The same preview stands for some seconds (`as_of`), for its pages too; while too many are asked for at once, more are refused with 429.',
      tags: ['Checks'],
      permission: 'Manage Checks',
      query: moveQuery,
      body: configureCheckBody,
      example: { body: { remediation_strategy: 'block_immediately' } },
      responses: { 200: configurationPreviewSchema },
      handler: async ({ params, query, body }) => {
        const { impact, at } = await preview(parseId(params.id, 'check'), body)
        const page = { after: query.after, perPage: query.per_page }
        return toConfigurationPreviewJson(impact, page, at)
      },
    }),
  ]
}
