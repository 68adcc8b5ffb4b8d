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
import { texts } from './texts.ts'

export interface Place {
  readonly label: string
  readonly to: string
  readonly icon: Icon
  /** The second key of `g …`. */
  readonly key?: string
  /** Other words for it, for the palette. */
  readonly words?: string
}

export interface PlaceGroup {
  readonly label: string
  readonly places: readonly Place[]
}

const { sections } = texts

export const PLACES: readonly PlaceGroup[] = [
  {
    label: sections.now,
    places: [
      { label: 'Now', to: '/', icon: PulseIcon, key: 'n', words: 'overview home dashboard' },
    ],
  },
  {
    label: sections.fleet,
    places: [
      { label: 'Devices', to: '/devices', icon: DeviceDesktopIcon, key: 'd', words: 'hosts' },
      { label: 'People', to: '/people', icon: PersonIcon, key: 'p', words: 'users owners' },
      { label: 'Groups', to: '/groups', icon: PeopleIcon, key: 'g', words: 'device person groups' },
      {
        label: 'Live queries',
        to: '/live-queries',
        icon: TerminalIcon,
        key: 'q',
        words: 'osquery sql',
      },
      {
        label: 'Reports',
        to: '/reports',
        icon: TableIcon,
        key: 'r',
        words: 'reporting sql tables',
      },
    ],
  },
  {
    label: sections.policy,
    places: [
      { label: 'Checks', to: '/checks', icon: ChecklistIcon, key: 'c', words: 'policies posture' },
      { label: 'Issues', to: '/issues', icon: IssueOpenedIcon, key: 'i', words: 'failing' },
      {
        label: 'Requests',
        to: '/requests',
        icon: InboxIcon,
        key: 'e',
        words: 'exemptions registrations',
      },
      { label: 'Sign-ins', to: '/sign-ins', icon: SignInIcon, key: 's', words: 'auth logs' },
    ],
  },
  {
    label: sections.signals,
    places: [
      {
        label: 'Streams',
        to: '/signals/streams',
        icon: BroadcastIcon,
        key: 't',
        words: 'ssf caep',
      },
      {
        label: 'Webhooks',
        to: '/signals/webhooks',
        icon: WebhookIcon,
        key: 'w',
        words: 'endpoints',
      },
      {
        label: 'Deliveries',
        to: '/signals/deliveries',
        icon: PaperAirplaneIcon,
        key: 'v',
        words: 'attempts events',
      },
      {
        label: 'Where is my event',
        to: '/signals/find',
        icon: SearchIcon,
        key: 'f',
        words: 'trace jti txn',
      },
      { label: 'SSF clients', to: '/signals/clients', icon: ServerIcon, words: 'oauth receivers' },
      { label: 'Signing keys', to: '/signals/keys', icon: VerifiedIcon, words: 'jwks rotate' },
    ],
  },
  {
    label: sections.system,
    places: [
      { label: 'Audit log', to: '/audit-log', icon: LogIcon, key: 'a', words: 'history changes' },
      {
        label: 'Enrollment',
        to: '/settings/enrollment',
        icon: StackIcon,
        words: 'add a device packages secrets',
      },
      {
        label: 'Developers',
        to: '/settings/developers',
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
