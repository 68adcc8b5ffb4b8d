import { describe, expect, it } from 'vitest'
import { DARWIN_ROWS } from '../../simulator/src/personas/darwin-rows.ts'
import { FEDORA_ROWS, UBUNTU_ROWS } from '../../simulator/src/personas/linux-rows.ts'
import {
  resolveChanges,
  resolveTables,
  type DevicePerson,
  type Flavor,
} from '../../simulator/src/personas/template-rows.ts'
import { WINDOWS_ROWS } from '../../simulator/src/personas/windows-rows.ts'
import { findKnob, listKnobs } from '../../simulator/src/posture/knobs.ts'
import { createPlatformDatabase } from '../../simulator/src/sql/platform-database.ts'
import { CHECK_CATALOGUE } from '../src/checks/catalogue/index.ts'
import type { CheckPlatform } from '../src/checks/check-definition.ts'

const ROWS = {
  macos: DARWIN_ROWS,
  windows: WINDOWS_ROWS,
  ubuntu: UBUNTU_ROWS,
  fedora: FEDORA_ROWS,
} as const

const FLAVORS: readonly (readonly [Flavor, CheckPlatform])[] = [
  ['macos', 'darwin'],
  ['windows', 'windows'],
  ['ubuntu', 'linux'],
  ['fedora', 'linux'],
]

/** Checks to the knobs of the simulator that turn them. */
const KNOBS: Readonly<Record<string, string>> = {
  'accounts-have-passwords': 'empty-passwords',
  antivirus: 'antivirus',
  'automatic-login-disabled': 'automatic-login',
  'automatic-updates': 'automatic-updates',
  'autorun-disabled': 'autorun',
  'bluetooth-sharing-disabled': 'bluetooth-sharing',
  'chrome-up-to-date': 'chrome-version',
  'defender-real-time-protection': 'real-time-protection',
  'disk-encryption': 'disk-encryption',
  'disk-space': 'disk-space',
  'edge-up-to-date': 'edge-version',
  'endpoint-detection-running': 'endpoint-detection',
  'file-sharing-disabled': 'file-sharing',
  'firefox-up-to-date': 'firefox-version',
  firewall: 'firewall',
  gatekeeper: 'gatekeeper',
  'guest-account-disabled': 'guest-account',
  'internet-sharing-disabled': 'internet-sharing',
  'malware-definition-updates': 'malware-definitions',
  'mandatory-access-control': 'mandatory-access-control',
  'operating-system-supported': 'os-version',
  'password-manager-installed': 'password-manager',
  'powershell-execution-policy': 'powershell-execution-policy',
  'remote-desktop-disabled': 'remote-desktop',
  'remote-login-disabled': 'remote-login',
  'remote-management-disabled': 'remote-management',
  'restarted-recently': 'recent-restart',
  'root-ssh-login-disabled': 'ssh-root-login',
  'screen-lock': 'screen-lock',
  'screen-sharing-disabled': 'screen-sharing',
  'secure-boot': 'secure-boot',
  'sideloaded-browser-extensions': 'browser-extensions',
  'smb1-disabled': 'smb1',
  'ssh-keys-encrypted': 'ssh-keys',
  'sudo-requires-password': 'sudo-password',
  'system-integrity-protection': 'system-integrity-protection',
  'time-synchronised': 'time-synchronisation',
  'user-account-control': 'user-account-control',
}

/** The knob of a check where one platform has another. */
const PLATFORM_KNOBS: Readonly<Record<string, string>> = {
  'operating-system-up-to-date on darwin': 'os-version',
  'operating-system-up-to-date on windows': 'pending-updates',
}

/** What depends on the day on which the test runs; `catalogue-verdicts.test.ts` covers it by dates. */
const DATED = new Set(['operating-system-supported'])

/** What a simulated device has no rows for, so that its check may answer unknown. */
const UNSEEN = new Set(['time-synchronised on macos'])

const cases = FLAVORS.flatMap(([flavor, platform]) =>
  CHECK_CATALOGUE.filter((check) => check.platforms.includes(platform)).map((check) => ({
    slug: check.slug,
    sql: check.queries[platform]!,
    flavor,
    platform,
    knob: PLATFORM_KNOBS[`${check.slug} on ${platform}`] ?? KNOBS[check.slug],
  })),
)

const casesWithKnob = cases.flatMap((entry) =>
  entry.knob !== undefined && findKnob(entry.platform, entry.knob) !== undefined
    ? [{ ...entry, knob: entry.knob }]
    : [],
)

function personOf(flavor: Flavor): DevicePerson {
  const homes = { macos: '/Users/ada', windows: String.raw`C:\Users\ada`, ubuntu: '/home/ada' }
  return {
    flavor,
    username: 'ada',
    fullName: 'Ada Example',
    uid: 1_001,
    home: flavor === 'fedora' ? homes.ubuntu : homes[flavor],
    sid: flavor === 'windows' ? 'S-1-5-21-1004336348-1177238915-682003330-1001' : '',
  }
}

/** Runs SQL on a device whose knobs are all good but one. */
function runOnDevice(flavor: Flavor, platform: CheckPlatform, sql: string, badKnob?: string) {
  const nowMs = Date.now()
  const nowSeconds = Math.floor(nowMs / 1_000)
  const person = personOf(flavor)
  const database = createPlatformDatabase({ platform, nowMs: () => nowMs })
  try {
    const node = database.addNode(resolveTables(ROWS[flavor], person, nowSeconds))
    for (const knob of listKnobs(platform)) {
      const changes = knob.name === badKnob ? knob.bad : knob.good
      database.applyChanges(node, resolveChanges(changes, person, nowSeconds))
    }
    const result = database.tablesOf(node).query(sql)
    if (result.outcome !== 'rows') throw new Error(result.message)
    return result.rows
  } finally {
    database.close()
  }
}

describe('the catalogue on simulated devices', () => {
  it.each(cases)('$slug passes or does not apply on a good $flavor device', (entry) => {
    const rows = runOnDevice(entry.flavor, entry.platform, entry.sql)
    expect(rows).toHaveLength(1)
    if (DATED.has(entry.slug)) return
    const unknown = UNSEEN.has(`${entry.slug} on ${entry.flavor}`) ? ['UNKNOWN'] : []
    expect(['PASS', 'INAPPLICABLE', ...unknown], JSON.stringify(rows)).toContain(
      rows[0]?.['KOLIDE_CHECK_STATUS'],
    )
  })

  it.each(casesWithKnob)('$slug fails on $flavor when the knob $knob is bad', (entry) => {
    const rows = runOnDevice(entry.flavor, entry.platform, entry.sql, entry.knob)
    expect(rows.length).toBeGreaterThan(0)
    expect(
      rows.map((row) => row['KOLIDE_CHECK_STATUS']),
      JSON.stringify(rows),
    ).toContain('FAIL')
  })

  it('turns every check that has a knob', () => {
    const knobs = new Set(casesWithKnob.map(({ knob }) => knob))
    const wanted = [...Object.values(KNOBS), ...Object.values(PLATFORM_KNOBS)]
    expect(wanted.filter((knob) => !knobs.has(knob))).toEqual([])
  })
})
