/* Where one can go: the navigation, the go-to keys and the palette all read this one list. */
import {
  BroadcastIcon,
  ChecklistIcon,
  CodeIcon,
  DeviceDesktopIcon,
  GearIcon,
  InboxIcon,
  IssueOpenedIcon,
  LogIcon,
  PaperAirplaneIcon,
  PeopleIcon,
  PersonIcon,
  PulseIcon,
  SearchIcon,
  ServerIcon,
  SignInIcon,
  StackIcon,
  TableIcon,
  TerminalIcon,
  VerifiedIcon,
  WebhookIcon,
  type Icon,
} from '@primer/octicons-react'
import { useMemo } from 'react'
import { useIsOpen, type Opening } from './session.ts'
import { texts } from './texts.ts'

interface Place extends Opening {
  readonly label: string
  readonly to: string
  readonly icon: Icon
  /** The second key of `g …`. */
  readonly key?: string
  /** Other words for it, for the palette. */
  readonly words?: string
}

/** What each tab for developers needs. */
const DEVELOPERS_OPENINGS = {
  '/settings/developers/ssf-streams': {
    area: 'Shared Signals',
    permission: 'Manage Shared Signals Framework Streams',
  },
  '/settings/developers/api-keys': { area: 'API keys' },
  '/settings/developers/webhooks': { area: 'Webhooks', permission: 'Manage Webhooks' },
} as const satisfies Readonly<Record<string, Opening>>

interface PlaceGroup {
  readonly label: string
  readonly places: readonly Place[]
}

const { sections } = texts

const PLACES: readonly PlaceGroup[] = [
  {
    label: sections.now,
    places: [
      {
        label: 'Now',
        to: '/',
        area: 'Overview',
        icon: PulseIcon,
        key: 'n',
        words: 'overview home dashboard',
      },
    ],
  },
  {
    label: sections.fleet,
    places: [
      {
        label: 'Devices',
        to: '/devices',
        area: 'Devices',
        icon: DeviceDesktopIcon,
        key: 'd',
        words: 'hosts',
      },
      {
        label: 'People',
        to: '/people',
        area: 'People',
        icon: PersonIcon,
        key: 'p',
        words: 'users owners',
      },
      {
        label: 'Groups',
        to: '/groups',
        area: 'Device groups',
        icon: PeopleIcon,
        key: 'g',
        words: 'device person groups',
      },
      {
        label: 'Live queries',
        to: '/live-queries',
        area: 'Live queries',
        icon: TerminalIcon,
        key: 'q',
        words: 'osquery sql',
      },
      {
        label: 'Reports',
        to: '/reports',
        area: 'Reporting',
        icon: TableIcon,
        key: 'r',
        words: 'reporting sql tables',
      },
    ],
  },
  {
    label: sections.policy,
    places: [
      {
        label: 'Checks',
        to: '/checks',
        area: 'Checks',
        icon: ChecklistIcon,
        key: 'c',
        words: 'policies posture',
      },
      {
        label: 'Issues',
        to: '/issues',
        area: 'Issues',
        icon: IssueOpenedIcon,
        key: 'i',
        words: 'failing',
      },
      {
        label: 'Requests',
        to: '/requests',
        area: 'Requests',
        icon: InboxIcon,
        key: 'e',
        words: 'exemptions registrations',
      },
      {
        label: 'Sign-ins',
        to: '/sign-ins',
        area: 'Auth logs',
        icon: SignInIcon,
        key: 's',
        words: 'auth logs',
      },
    ],
  },
  {
    label: sections.signals,
    places: [
      {
        label: 'Streams',
        to: '/signals/streams',
        area: 'Shared Signals',
        permission: 'Manage Shared Signals Framework Streams',
        icon: BroadcastIcon,
        key: 't',
        words: 'ssf caep',
      },
      {
        label: 'Webhooks',
        to: '/signals/webhooks',
        area: 'Webhooks',
        permission: 'Manage Webhooks',
        icon: WebhookIcon,
        key: 'w',
        words: 'endpoints',
      },
      {
        label: 'Deliveries',
        to: '/signals/deliveries',
        area: 'Deliveries',
        icon: PaperAirplaneIcon,
        key: 'v',
        words: 'attempts events',
      },
      {
        label: 'Where is my event',
        to: '/signals/find',
        area: 'Deliveries',
        icon: SearchIcon,
        key: 'f',
        words: 'trace jti txn',
      },
      {
        label: 'SSF clients',
        to: '/signals/clients',
        area: 'Shared Signals',
        permission: 'Manage Shared Signals Framework Streams',
        icon: ServerIcon,
        words: 'oauth receivers',
      },
      {
        label: 'Signing keys',
        to: '/signals/keys',
        area: 'Shared Signals',
        permission: 'Manage Shared Signals Framework Streams',
        icon: VerifiedIcon,
        words: 'jwks rotate',
      },
    ],
  },
  {
    label: sections.system,
    places: [
      {
        label: 'Audit log',
        to: '/audit-log',
        area: 'Audit logs',
        icon: LogIcon,
        key: 'a',
        words: 'history changes',
      },
      {
        label: 'Enrollment',
        to: '/settings/enrollment',
        area: 'Enrollment secrets',
        permission: 'Manage Enrollment',
        icon: StackIcon,
        words: 'add a device packages secrets',
      },
      {
        label: 'Developers',
        to: '/settings/developers',
        anyOf: Object.values(DEVELOPERS_OPENINGS),
        icon: CodeIcon,
        key: 'k',
        words: 'api keys ssf streams webhooks',
      },
      {
        label: 'Settings',
        to: '/settings',
        icon: GearIcon,
        key: 'o',
        words: 'organisation admins scim',
      },
    ],
  },
]

/** What each page of the settings needs, but for what stands in the navigation. */
export const SETTINGS_OPENINGS = {
  '/settings/organisation': {},
  '/settings/admins': { area: 'Admins' },
  '/settings/identity-provider': { permission: 'Manage Admins' },
  '/settings/sign-in': { area: 'Sign-in' },
  '/settings/api-keys': { area: 'API keys' },
  '/settings/developers': { anyOf: Object.values(DEVELOPERS_OPENINGS) },
  ...DEVELOPERS_OPENINGS,
  '/settings/scim': { area: 'People' },
  '/settings/retention': { area: 'Organisation' },
  '/settings/account': {},
} as const satisfies Readonly<Record<string, Opening>>

/** What the pages below a path need; the first page leads on to another where it is not open. */
const OPENINGS: readonly (readonly [path: string, opening: Opening])[] = [
  ...PLACES.flatMap(({ places }) => places.map((place) => [place.to, place] as const)),
  ...Object.entries(SETTINGS_OPENINGS),
].filter(([path]) => path !== '/')

/** Whether one of these pages shows only what the signed-in admin may not see: nothing of it is asked for. */
export function useIsClosed(...paths: readonly string[]): boolean {
  const isOpen = useIsOpen()
  return paths.some((path) => !isOpen(openingOf(path)))
}

function openingOf(path: string): Opening {
  const above = OPENINGS.filter(([each]) => path === each || path.startsWith(`${each}/`))
  const nearest = above.toSorted(([left], [right]) => right.length - left.length)[0]
  return nearest?.[1] ?? {}
}

/** The places that are open to the signed-in admin. */
export function usePlaces(): readonly PlaceGroup[] {
  const isOpen = useIsOpen()
  return useMemo(
    () =>
      PLACES.map(({ label, places }) => ({ label, places: places.filter(isOpen) })).filter(
        ({ places }) => places.length > 0,
      ),
    [isOpen],
  )
}
