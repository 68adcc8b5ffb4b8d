import fastify from 'fastify'
import { expect, it } from 'vitest'
import { createRoutesPart } from './http-server.ts'

it('the routes are all there before the part that comes next starts, and nobody is let in yet', async () => {
  const http = fastify()
  let isThere = false
  void http.register(async (scope) => {
    scope.get('/late', async () => 'here')
    isThere = true
  })
  await createRoutesPart(http).start?.()
  try {
    expect(isThere).toBe(true)
    expect(() => http.get('/later', async () => 'never')).toThrow('already listening')
    expect(http.server.listening).toBe(false)
  } finally {
    await http.close()
  }
})
