import { expect, test, vi } from 'vitest'
import { requestTransmitter } from '../src/transmitter-request.ts'

/** A body that never ends. */
function createEndlessBody() {
  let isCancelled = false
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 1))
      controller.enqueue(new Uint8Array(1))
    },
    cancel() {
      isCancelled = true
    },
  })
  return { body, isCancelled: () => isCancelled }
}

test.each([
  ['comes after that', 200, 30],
  ['is on its way', 200, 0],
  ['says that it failed', 500, 0],
])(
  'what a fetch without regard to the signal reads on is let go of when it was given up, where the answer %s',
  async (_title, status, delayMs) => {
    const { body, isCancelled } = createEndlessBody()
    const request = requestTransmitter({
      method: 'GET',
      url: 'https://transmitter.example.com',
      headers: {},
      timeoutMs: 15,
      responseBytesMax: Number.POSITIVE_INFINITY,
      fetch: async () => {
        await new Promise((resolve) => setTimeout(resolve, delayMs))
        return new Response(body, { status })
      },
    })
    await expect(request).rejects.toMatchObject({ code: 'timeout' })
    await vi.waitFor(() => expect(isCancelled()).toBe(true), { timeout: 500 })
  },
)
