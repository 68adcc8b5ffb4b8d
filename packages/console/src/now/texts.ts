import { formatCount } from '../kit/figures.ts'

const plural = (count: number, one: string, many: string) =>
  `${formatCount(count)} ${count === 1 ? one : many}`

export const texts = {
  title: 'Now',
  devices: (count: number) => plural(count, 'device', 'devices'),
  blockedSentence: (count: number) =>
    count === 1 ? '1 device cannot sign in' : `${formatCount(count)} devices cannot sign in`,
  willBlockSentence: (count: number) =>
    `${plural(count, 'is', 'are')} about to be blocked unless what they fail is fixed`,
  noneBlocked: (total: number) =>
    total === 1 ? 'The device may sign in.' : `All ${formatCount(total)} devices may sign in.`,
  noDevices: 'No device is enrolled yet',
  noDevicesHelp:
    'Heliograph shows here which devices may sign in, which will be blocked and why. Add a device, and it appears within a minute.',
  addDevice: 'Add a device',
  asOf: 'As of',
  statuses: 'Devices by status',
  range: 'Time span',
  ranges: { day: '24 hours', week: '7 days', month: '30 days', quarter: '90 days' },
  since: { day: 'in 24 hours', week: 'in 7 days', month: 'in 30 days', quarter: 'in 90 days' },
  unchanged: 'unchanged',
  states: {
    good: 'Good',
    notified: 'Notified',
    will_block: 'Will Block',
    blocked: 'Blocked',
  },
  noCourse: 'The course begins with the first count, within five minutes of the first device.',
  week: 'Who will be blocked this week',
  weekLead: 'By the day on which the time to fix what fails runs out.',
  weekNone: 'Nobody will be blocked in the next seven days.',
  today: 'Today',
  overdue: 'overdue',
  freeDay: 'Nobody',
  more: (count: number) => `${formatCount(count)} more`,
  unowned: 'no owner',
  checks: 'Checks that fail most',
  checksLead: 'Paused checks are left out.',
  checksNone: 'Every check passes on every device.',
  allChecks: 'All checks',
  check: 'Check',
  strategy: 'Strategy',
  failing: 'Failing',
  ofDevices: (failing: number, all: number, target: string) =>
    `${formatCount(failing)} of ${formatCount(all)} ${target}`,
  signIns: 'Sign-ins stopped',
  signInsLead: 'People who could not get in because of their device.',
  todayCount: 'today',
  weekCount: 'in 7 days',
  signInsNone: 'No sign-in was stopped in the last seven days.',
  withoutDevice: 'no device found',
  initially: {
    all_good: 'was good',
    will_block: 'will be blocked',
    blocked: 'blocked',
    unknown: '',
  },
  requests: 'Waiting requests',
  requestsNone: 'Nobody waits for an answer.',
  requestKinds: {
    exemption: 'Exemptions',
    registration: 'Registrations',
    reenrollment: 'Re-enrollments',
    sign_in: 'Sign-ins',
  },
  oldest: 'oldest',
  signals: 'Streams and webhooks',
  signalsWell: 'Every stream and webhook delivers.',
  failingWord: 'Failing',
  stoppedWord: 'Stopped',
  stream: 'Stream',
  webhook: 'Webhook',
  lastSuccess: 'last delivered',
  view: 'View all',
} as const
