import type { ApiRoute } from '../schema/operations.ts'
import type { Foundation, ServicePart } from '../changes/foundation.ts'
import { deprovisionedPersonRoutes } from './people/deprovisioned-person-routes.ts'
import { personGroupRoutes } from './people/person-group-routes.ts'
import { personRoutes } from './people/person-routes.ts'
import { scimSettingsRoutes } from './provisioning/scim-settings-routes.ts'

export interface PeopleSettings {
  readonly baseUrl: string
}

/**
 * People and their groups. `personOperations` is what other wings show of one person; it stands with the
 * operations of a person in the documents.
 */
export function createPeoplePart(
  { db, clock }: Pick<Foundation, 'db' | 'clock'>,
  { baseUrl }: PeopleSettings,
  personOperations: readonly ApiRoute[],
): ServicePart {
  return {
    name: 'people',
    roles: ['api'],
    operations: [
      ...personRoutes(db),
      ...personOperations,
      ...personGroupRoutes(db),
      ...deprovisionedPersonRoutes(db, baseUrl),
      ...scimSettingsRoutes({ db, clock, baseUrl }),
    ],
  }
}
