import type { Foundation, ServicePart } from '../changes/foundation.ts'
import { deprovisionedPersonRoutes } from './people/deprovisioned-person-routes.ts'
import { personGroupRoutes } from './people/person-group-routes.ts'
import { personRoutes } from './people/person-routes.ts'

export interface PeopleSettings {
  readonly baseUrl: string
}

/** People and their groups. */
export function createPeoplePart(
  { db }: Pick<Foundation, 'db'>,
  { baseUrl }: PeopleSettings,
): ServicePart {
  return {
    name: 'people',
    roles: ['api'],
    operations: [
      ...personRoutes(db, baseUrl),
      ...personGroupRoutes(db),
      ...deprovisionedPersonRoutes(db, baseUrl),
    ],
  }
}
