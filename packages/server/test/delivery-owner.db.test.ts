import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { findOwner } from '../src/cli/commands/delivery-owner.ts'
import { redriveDeliveries, resendDelivery } from '../src/signals/dispatch/redrive-deliveries.ts'
import { createStreamsApi } from './support/streams-api.ts'
import { queueEvents } from './support/queue-events.ts'
import { waitForLock } from './support/wait-for-lock.ts'
import { createWebhooksApi, type WebhooksApi } from './support/webhooks-api.ts'

let api: WebhooksApi
beforeAll(async () => {
  api = await createWebhooksApi()
})
afterAll(() => api.close())

const nobody = { stream: undefined, webhook: undefined, destination: undefined }

/** A webhook with a delivery that was given up; its payload stands with its event, as for every webhook. */
async function createDeadDelivery(): Promise<{ destination: string; eventId: string }> {
  const webhook = await api.create({})
  const sent = await api.call<{ event_id: string }>(`/webhooks/${webhook.id}/test`, {
    method: 'POST',
  })
  expect(sent.status).toBeLessThan(300)
  const delivery = await api.db
    .updateTable('delivery')
    .set({ state: 'dead' })
    .where('event_id', '=', sent.body.event_id)
    .returning(['destination_id', 'event_id', 'body'])
    .executeTakeFirstOrThrow()
  expect(delivery.body).toBe('')
  return { destination: delivery.destination_id, eventId: delivery.event_id }
}

test('the deliveries of a webhook are sent again when its destination names them', async () => {
  const { destination } = await createDeadDelivery()
  const owner = await findOwner(api.db, { ...nobody, destination }, 'send')
  const moved = await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    redriveDeliveries(change, owner),
  )
  expect(moved).toEqual({ count: 1, hasMore: false })
})

test('one delivery of a webhook is sent again when its destination names it', async () => {
  const { destination, eventId } = await createDeadDelivery()
  const owner = await findOwner(api.db, { ...nobody, destination }, 'send')
  const resent = await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    resendDelivery(change, owner, eventId),
  )
  expect(resent.state).toBe('queued')
})

test('what a stream no longer asks for is not sent again when its destination names it', async () => {
  const streams = await createStreamsApi()
  try {
    const { id, stream_id } = await streams.createStream({ name: 'push' })
    const destination = await streams.getDestinationId(id)
    const queued = await queueEvents(streams, destination, [null], DEVICE_COMPLIANCE_CHANGE)
    await streams.db.updateTable('delivery').set({ state: 'dead' }).execute()
    const payload = { stream_id, events_requested: [] }
    await streams.call('/ssf_streams', { method: 'PATCH', payload })
    const owner = await findOwner(streams.db, { ...nobody, destination }, 'send')
    const [eventId = ''] = queued.eventIds
    await streams.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      expect(await redriveDeliveries(change, owner)).toEqual({ count: 0, hasMore: false })
      await expect(resendDelivery(change, owner, eventId)).rejects.toThrow('no longer asks')
    })
  } finally {
    await streams.close()
  }
})

test('what a command sends again goes by what its stream asks for after a change that is under way', async () => {
  const streams = await createStreamsApi()
  try {
    const { id } = await streams.createStream({ name: 'push' })
    const destination = await streams.getDestinationId(id)
    for (const named of [{ stream: id }, { destination }]) {
      const events = [DEVICE_COMPLIANCE_CHANGE]
      await streams.db.updateTable('ssf_stream').set({ events_requested: events }).execute()
      const { owner } = await streams.db.transaction().execute(async (tx) => {
        await tx.updateTable('ssf_stream').set({ events_requested: [] }).execute()
        const found = findOwner(streams.db, { ...nobody, ...named }, 'send')
        await waitForLock(streams.db)
        return { owner: found }
      })
      expect((await owner).eventTypes).not.toContain(DEVICE_COMPLIANCE_CHANGE)
    }
  } finally {
    await streams.close()
  }
})
