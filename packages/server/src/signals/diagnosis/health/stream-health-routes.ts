import type { Kysely } from 'kysely'
import type { Clock } from '../../../platform/clock.ts'
import { route, type ApiRoute } from '../../../schema/operations.ts'
import type { Schema } from '../../../schema/schema.ts'
import { STREAM_ACCESS } from '../../streams/stream-routes.ts'
import { getStream, parseStreamReference } from '../../streams/stream-store.ts'
import { streamHealthSchema, toStreamHealth } from './stream-health.ts'

export interface StreamHealthDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
}

/** The health document for operators. */
export function streamHealthRoutes({ db, clock }: StreamHealthDependencies): ApiRoute[] {
  return [
    route({
      ...STREAM_ACCESS,
      method: 'GET',
      path: '/ssf_streams/:id/health',
      summary: 'Show how a stream is doing',
      description:
        'What waits, how long deliveries took in the last hour and day, what went wrong last, and which signing keys the receiver has accepted.',
      responses: { 200: streamHealthSchema },
      handler: async ({ params }) =>
        toStreamHealth(db, await getStream(db, parseStreamReference(params.id)), clock.now()),
    }),
  ]
}
