import type { KyselyPlugin } from 'kysely'
import { afterAll, expect, test, vi } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { createTestEngine } from '../../../test/support/test-engine.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createChangeRunner } from '../../changes/change.ts'
import { systemClock } from '../../platform/clock.ts'
import { newUuid } from '../../platform/ids.ts'
import { claimDeliveries } from './claim-store.ts'
import { insertDeliveries } from './delivery-store.ts'
import { insertDestination } from './destination-store.ts'

const database = await createTestDatabase()
const { db } = database
const change = createChangeRunner(db, systemClock, [])

afterAll(() => database.close())

/** Notes the statements that claim: those of a look, those that look past what is blocked, and the usual ones. */
function noteClaims(noted: string[]): KyselyPlugin {
  return {
    transformQuery({ node }) {
      const text = JSON.stringify(node, (_key, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      )
      if (text.includes('candidate as materialized')) {
        const isLook = text.includes('destination as materialized')
        noted.push(isLook ? 'look' : text.includes('due.id') ? 'past' : 'usual')
      }
      return node
    },
    transformResult: ({ result }) => Promise.resolve(result),
  }
}

test('a look that met only what another worker blocks is followed by the claim that looks past it, and by no other', async () => {
  const destinationId = await insertDestination(db, { kind: 'webhook', state: 'active' })
  await change({ actor: SYSTEM_ACTOR }, (open) =>
    insertDeliveries(
      open,
      [...Array.from({ length: 500 }, () => 'device:1'), null].map((subjectKey) => ({
        destinationId,
        eventId: newUuid(),
        eventType: 'test',
        subjectKey,
        body: '{}',
      })),
    ),
  )
  const held = { destinationId, claimId: newUuid(), ownClaimIds: [], leaseMs: 60_000, kid: null }
  await claimDeliveries(db, { ...held, limit: 1 })
  const noted: string[] = []
  const engine = createTestEngine({
    db: db.withPlugin(noteClaims(noted)),
    client: { request: () => Promise.reject(new Error('nothing is to be sent')) },
    channels: [
      {
        kind: 'webhook',
        logEvent: 'test.delivery_attempted',
        retryDelaysMs: [],
        claimKid: () => null,
        // Of what is claimed nothing is left to send.
        prepare: (_destinationId, deliveries) => Promise.resolve(deliveries.map(() => 'ended')),
        classify: () => ({ kind: 'accepted' }),
      },
    ],
    settings: { claimSize: 16 },
  })
  await engine.start()
  await vi.waitFor(() => expect(noted.length).toBeGreaterThanOrEqual(6), 15_000)
  await engine.close(0)
  expect(noted.slice(0, 6)).toEqual(['usual', 'past', 'look', 'past', 'look', 'past'])
})
