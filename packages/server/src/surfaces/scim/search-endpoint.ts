import type { Kysely } from 'kysely'
import type { Person } from '../../people/people/person-store.ts'
import type { PersonGroup } from '../../people/provisioning/scim-group.ts'
import type { Operation } from '../../platform/http/operation.ts'
import type { Schema } from '../../schema/schema.ts'
import { toResourceList } from './resource-answer.ts'
import { declare, findResources, type ScimResources } from './resource-endpoints.ts'
import { readSearchBody } from './scim-request.ts'

interface SearchedResources {
  readonly db: Kysely<Schema>
  readonly users: ScimResources<Person>
  readonly groups: ScimResources<PersonGroup>
}

/**
 * The search over all resources, users before groups; RFC 7644 section 3.4.3. What a filter names of one type
 * is without a value in resources of the other (section 3.4.2.1).
 */
export function searchEndpoint({ db, users, groups }: SearchedResources): Operation {
  return declare('POST', '/.search', 'Search all resources', async ({ body }) => {
    const ofUsers = readSearchBody(users.type, body)
    const { startIndex, count } = ofUsers.window
    const first = await findResources(db, users, ofUsers, [groups.type])
    const rest = {
      startIndex: Math.max(1, startIndex - first.total),
      count: count - first.shown.length,
    }
    const ofGroups = { ...readSearchBody(groups.type, body), window: rest }
    const second = await findResources(db, groups, ofGroups, [users.type])
    const shown = [...first.shown, ...second.shown]
    return toResourceList(shown, first.total + second.total, ofUsers.window)
  })
}
