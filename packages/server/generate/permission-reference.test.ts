import { expect, it } from 'vitest'
import { z } from 'zod'
import { renderPermissionReference } from './permission-reference.ts'
import { route } from '../src/platform/http/route.ts'

const shared = { tags: [], responses: { 200: z.object({}) }, handler: async () => ({}) }

it('says for each method and path who may call it, by path', () => {
  const text = renderPermissionReference([
    route({ ...shared, method: 'GET', path: '/widgets', summary: 'List', permission: null }),
    route({
      ...shared,
      method: 'PATCH',
      path: '/widgets/:id',
      summary: 'Change',
      permission: 'Manage Checks',
      versions: ['2026-04-07'],
    }),
    route({ ...shared, method: 'GET', path: '/keys', summary: 'Keys', permission: 'public' }),
    route({ ...shared, method: 'DELETE', path: '/own', summary: 'Leave', permission: 'session' }),
    route({
      ...shared,
      method: 'GET',
      path: '/inner',
      summary: 'Inner',
      permission: null,
      hidden: true,
    }),
  ])
  expect(text.split('\n').filter((line) => line.startsWith('| `'))).toEqual([
    '| `GET /keys` | Keys | public |  |  |',
    '| `DELETE /own` | Leave | session |  |  |',
    '| `GET /widgets` | List | any key |  |  |',
    '| `PATCH /widgets/{id}` | Change | **Manage Checks** | `api_writes` | 2026-04-07 |',
    '| `PUT /widgets/{id}` | Change | **Manage Checks** | `api_writes` | 2026-04-07 |',
  ])
})
