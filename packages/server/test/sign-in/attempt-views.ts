/* A sign-in at each of its steps, for tests that look at its pages. */
import type { AttemptIssue, AttemptView } from '../../src/sign-in/attempts/attempt-view.ts'

export const ATTEMPT_STAGES = [
  'person',
  'device',
  'registration',
  'fallback',
  'posture',
  'blocked',
  'warned',
  'done',
  'refused',
  'abandoned',
] as const

type Stage = (typeof ATTEMPT_STAGES)[number]

const HOUR_MS = 3_600_000
const later = (hours: number) => new Date(Date.now() + hours * HOUR_MS)

const DISK: AttemptIssue = {
  id: '7',
  checkId: '1',
  checkSlug: 'disk-encryption',
  title: 'The disk is not encrypted',
  rationale:
    'Whoever finds or steals ada-mbp can take out its disk and read everything on it: documents, mail, saved passwords and sessions. Encryption prevents that.',
  rows: [{ filevault_status: 'off', encrypted_volumes: '0' }],
  steps:
    '1. Open the Apple menu > **System Settings** and choose **Privacy & Security**.\n2. Scroll down to **FileVault**, choose the **ⓘ** next to it and **Turn On…**.\n3. Or run `sudo fdesetup enable -user ada` in a terminal.',
  blocksAt: later(-20),
  isBlocking: true,
  recheck: 'idle',
  lastCheckedAt: later(-2),
  snoozeDays: [],
  snoozedUntil: null,
  isExemptionAllowed: true,
  exemption: null,
  exemptedUntil: null,
  exemptionDenial: null,
  withdrawableRequestId: null,
}

const SCREEN_LOCK: typeof DISK = {
  ...DISK,
  id: '8',
  checkId: '4',
  checkSlug: 'screen-lock',
  title: 'The screen does not lock itself',
  rationale: 'Whoever walks past can use the computer as you.',
  rows: [{ idle_minutes: '45' }],
  steps: '1. Open **Lock Screen**.\n2. Choose **After 5 minutes**.',
  blocksAt: later(75),
  isBlocking: false,
  exemption: 'open',
  snoozeDays: [1, 3],
  isExemptionAllowed: false,
}

const ISSUES: Readonly<Partial<Record<Stage, readonly AttemptIssue[]>>> = {
  blocked: [
    DISK,
    { ...SCREEN_LOCK, blocksAt: later(-1), isBlocking: true },
    { ...DISK, id: '9', title: 'The firewall is off', recheck: 'asking' },
  ],
  warned: [
    SCREEN_LOCK,
    { ...DISK, id: '9', title: 'The firewall is off', recheck: 'passing', isBlocking: false },
  ],
}

/** The view of a sign-in at a step. */
export function attemptViewAt(stage: string): AttemptView {
  const at = ATTEMPT_STAGES.find((each) => each === stage) ?? 'person'
  return {
    id: '5d3c2f1e-1111-4222-8333-444455556666',
    stage: at,
    applicationName: 'Payroll',
    person: { name: 'Ada Lovelace', email: 'ada@example.com' },
    device: {
      id: '4',
      name: 'ada-mbp',
      platform: 'darwin',
      howKnown: 'live',
      seenAt: later(0),
      authState: 'Blocked',
      willBlockAt: null,
      isOwn: true,
      ownUntil: null,
    },
    assurance: 'live',
    issues: ISSUES[at] ?? [],
    choices: {
      mayContinue: at === 'warned',
      mayRecheck: true,
      mayRequestExemption: true,
      maySnooze: true,
      maySayNotMyDevice: true,
      mayCancel: true,
    },
    fallback: {
      ladder: ['registered_device', 'certificate', 'admin_approval', 'browser_key'],
      state: { waits_for: 'registered_device', code: '042137' },
    },
    registration: { state: {} },
    refusal: {
      code: 'device_unknown',
      message: '',
      note: null,
      remedy: '',
    },
    expiresAt: later(0.1),
    revision: 1,
    language: 'en',
    brand: { name: 'Acme Robotics', logo: null, colour: null },
  }
}
