/*
 * What admins may do who are signed in: the one table of access levels and restrictions. An operation belongs to
 * the areas that its tags name; an area says which level sees it, and a restriction takes permissions and areas
 * away from an admin with limited access. An area that is not named here is for Full Access alone.
 */
import { PERMISSIONS, type Permission } from './permissions.ts'

/** What an admin may do: everything, all but its restrictions, or what concerns the bill. */
export type AccessLevel = 'full' | 'limited' | 'billing'

/** Permissions that no admin without Full Access has. */
const FULL_ACCESS_PERMISSIONS: readonly Permission[] = [
  'Manage Admins',
  'Manage API Keys',
  'Manage Organisation',
]

/** The least level that sees an area, by the tag of its operations. */
const LEVEL_OF_AREA: Readonly<Record<string, AccessLevel>> = {
  'API keys': 'full',
  'Audit logs': 'full',
  Admins: 'limited',
  'Auth logs': 'limited',
  Checks: 'limited',
  'Console session': 'billing',
  'Custom check drafts': 'limited',
  'Device groups': 'limited',
  // Its operations show the deliveries alone that the permissions of the admin open.
  Deliveries: 'limited',
  Devices: 'limited',
  'Enrollment secrets': 'limited',
  Issues: 'limited',
  Live: 'limited',
  'Live queries': 'limited',
  Organisation: 'limited',
  Overview: 'limited',
  Packages: 'limited',
  People: 'limited',
  'Person groups': 'limited',
  Reporting: 'limited',
  Requests: 'limited',
  'Saved views': 'limited',
  'Shared Signals': 'limited',
  'Sign-in': 'limited',
  Webhooks: 'limited',
}

/** What else admins for billing may ask for: whose bill it is. */
const BILLING_OPERATIONS: ReadonlySet<string> = new Set(['GET /organisation', 'GET /whoami'])

/** What a restriction takes away from an admin with limited access. */
interface RestrictionFacts {
  readonly description: string
  readonly permissions: readonly Permission[]
  /** Areas that are not shown either. */
  readonly hides: readonly string[]
}

/** The restrictions of admins with limited access, by name. */
export const RESTRICTIONS = {
  devices: {
    description: 'Changes no device and no group of devices.',
    permissions: ['Remove Devices', 'Update Devices', 'Manage Device Groups'],
    hides: [],
  },
  checks: {
    description: 'Changes, runs and refreshes no check.',
    permissions: ['Manage Checks', 'Refresh Check', 'Submit Check Runs'],
    hides: [],
  },
  requests: {
    description: 'Decides no request of users.',
    permissions: ['Manage User Requests'],
    hides: [],
  },
  people: {
    description: 'Provisions nobody.',
    permissions: ['Manage People'],
    hides: [],
  },
  sign_ins: {
    description: 'Neither sees nor records sign-ins, with the places that they came from.',
    permissions: ['Record Sign-ins'],
    hides: ['Auth logs'],
  },
  sign_in: {
    description: 'Neither sees nor manages the applications that people sign in to here, and how.',
    permissions: ['Read Sign-in', 'Manage Sign-in'],
    hides: ['Sign-in'],
  },
  live_queries: {
    description: 'Neither asks devices nor sees what they answered.',
    permissions: ['Create Live Query'],
    hides: ['Live queries'],
  },
  reporting: {
    description: 'Neither writes nor sees reports.',
    permissions: ['Manage Reporting'],
    hides: ['Reporting'],
  },
  enrollment: {
    description: 'Neither sees nor manages what devices enroll with.',
    permissions: ['Manage Enrollment', 'Download Packages'],
    hides: ['Enrollment secrets', 'Packages'],
  },
  signals: {
    description: 'Neither sees nor manages streams, their clients and keys.',
    permissions: ['Manage Shared Signals Framework Streams'],
    hides: [],
  },
  webhooks: {
    description: 'Neither sees nor manages webhooks.',
    permissions: ['Manage Webhooks'],
    hides: ['Webhooks'],
  },
} as const satisfies Record<string, RestrictionFacts>

export type Restriction = keyof typeof RESTRICTIONS

/** The names of the restrictions. */
export const RESTRICTION_NAMES = Object.keys(RESTRICTIONS) as [Restriction, ...Restriction[]]

/** How much an admin may do. Restrictions count at the level `limited` alone. */
export interface LevelOfAccess {
  readonly accessLevel: AccessLevel
  readonly restrictions: readonly string[]
}

/** The permissions of an admin. A restriction that is unknown takes all of them away. */
export function permissionsOf({ accessLevel, restrictions }: LevelOfAccess): Set<Permission> {
  if (accessLevel === 'full') return new Set(PERMISSIONS)
  const facts = restrictions.map(factsOf)
  if (accessLevel === 'billing' || facts.includes(undefined)) return new Set()
  const taken = new Set<Permission>([
    ...FULL_ACCESS_PERMISSIONS,
    ...facts.flatMap((each) => each?.permissions ?? []),
  ])
  return new Set(PERMISSIONS.filter((permission) => !taken.has(permission)))
}

/** What is known of an operation where its areas are looked at. */
export interface OperationInArea {
  readonly method: string
  readonly path: string
  readonly tags: readonly string[]
}

/** Whether the areas of an operation are open to an admin; permissions are another question. */
export function isAreaOpen(operation: OperationInArea, level: LevelOfAccess): boolean {
  const { accessLevel, restrictions } = level
  if (accessLevel === 'full') return true
  const least = leastLevelOf(operation)
  if (accessLevel === 'billing') return least === 'billing'
  if (least === 'full') return false
  return restrictions.every((name) => {
    const facts = factsOf(name)
    return facts !== undefined && !facts.hides.some((area) => operation.tags.includes(area))
  })
}

/**
 * Whether what belongs to an area may be shown inside of another one: to keys and to admins whom neither their
 * level nor a restriction keeps from it.
 */
export function mayOpenArea(session: object | undefined, area: string): boolean {
  return (
    session === undefined ||
    isAreaOpen({ method: 'GET', path: '', tags: [area] }, session as LevelOfAccess)
  )
}

/** The areas that are open to an admin, by the tags of the API's operations. */
export function listOpenAreas(level: LevelOfAccess): string[] {
  return Object.keys(LEVEL_OF_AREA).filter((area) => mayOpenArea(level, area))
}

/** The least level that may ask for an operation. */
function leastLevelOf({ method, path, tags }: OperationInArea): AccessLevel {
  const name = `${method} ${path}`
  if (BILLING_OPERATIONS.has(name)) return 'billing'
  const levels = tags.map((tag) => LEVEL_OF_AREA[tag] ?? 'full')
  if (levels.length === 0 || levels.includes('full')) return 'full'
  return levels.includes('limited') ? 'limited' : 'billing'
}

function factsOf(name: string): RestrictionFacts | undefined {
  return Object.hasOwn(RESTRICTIONS, name) ? RESTRICTIONS[name as Restriction] : undefined
}
