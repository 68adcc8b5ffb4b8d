/* An API over devices that answer to checks: one clock for both, and what either changes is announced. */
import type { Permission } from '../../src/schema/permissions.ts'
import type { ApiRoute } from '../../src/platform/http/route.ts'
import { createTestApi, type TestApi, type TestApiParts } from './api-app.ts'
import { createPosture, type Posture } from './posture-fixtures.ts'

export interface PostureApi {
  readonly api: TestApi
  readonly posture: Posture
  /** Of a caller with the permission that the routes need. */
  readonly key: string
  readonly advance: (ms: number) => void
}

/** Close its `api` in `afterAll`. */
export async function createPostureApi(
  permission: Permission,
  createRoutes: (parts: TestApiParts) => readonly ApiRoute[],
): Promise<PostureApi> {
  const api = await createTestApi(createRoutes)
  const posture = createPosture(api.db)
  api.addPublisher(posture.announce)
  const advance = (ms: number) => {
    api.clock.advance(ms)
    posture.clock.advance(ms)
  }
  return { api, posture, key: await api.createKey([permission]), advance }
}
