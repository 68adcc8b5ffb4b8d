import { afterAll, expect, test } from 'vitest'
import { composeTestApi } from '../../test/support/composed-api.ts'
import { startLoopbackReceiver } from '../../test/support/loopback-receiver.ts'

const ANSWER_MS = 500

const api = await composeTestApi({ environment: { HELIOGRAPH_LOG_LEVEL: 'silent' } })
afterAll(() => api.close())

test('what is still asked of others when the rest has stopped is broken off, so that the database outlives it', async () => {
  const { list, outbound } = api.parts
  const stopping = Promise.withResolvers<void>()
  const receiver = await startLoopbackReceiver((_request, response) => {
    const answer = () => response.writeHead(200).end()
    void stopping.promise.then(() => setTimeout(answer, ANSWER_MS))
  })
  const asked = outbound.client.request({ url: receiver.url, method: 'GET' })
  await expect.poll(() => receiver.requests.length).toBe(1)
  const stopped = list.find(({ name }) => name === 'outbound requests')?.stop?.()
  stopping.resolve()
  await stopped
  expect(await asked).toMatchObject({ kind: 'failed', code: 'client_closed' })
  await receiver.close()
})
