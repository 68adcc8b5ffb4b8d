import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { playTimeline, startDrift } from './drift.ts'
import { listKnobs } from './knobs.ts'
import { createDeviceFactory } from './simulated-device.ts'
import type { DeviceFactory, SimulatedDevice } from './simulated-device.ts'
import { PLATFORMS } from '../platform.ts'
import type { Platform } from '../platform.ts'
import { createRandom } from '../random.ts'
import { createManualScheduler } from '../scheduler.ts'
import { TABLES_BY_PLATFORM } from '../tables/platform-tables.ts'

const factories: DeviceFactory[] = []
afterAll(() => factories.forEach((factory) => factory.close()))
// By this clock statements are interrupted: it stands still while a busy machine takes its time.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const NOW_MS = Date.UTC(2026, 10, 21)

function makeFactory(): DeviceFactory {
  const factory = createDeviceFactory(() => NOW_MS)
  factories.push(factory)
  return factory
}

/** All rows of all tables of a device, to compare before and after. */
function readEverything(device: SimulatedDevice): string {
  const tables = [...TABLES_BY_PLATFORM[device.platform].tables.keys()]
  const contents = tables.map((table) => {
    const result = device.tables.query(`SELECT * FROM "${table}"`)
    if (result.outcome === 'error') throw new Error(`${table}: ${result.message}`)
    return [table, result.rows.map((row) => JSON.stringify(row)).sort()]
  })
  return JSON.stringify(contents)
}

function cell(device: SimulatedDevice, sql: string): string | undefined {
  const result = device.tables.query(sql)
  if (result.outcome === 'error') throw new Error(result.message)
  return Object.values(result.rows[0] ?? {})[0]
}

/** For tests to which it is all one what other devices there are: the tables of a platform take long to make. */
const shared = makeFactory()

const KNOBS = PLATFORMS.flatMap((platform) =>
  listKnobs(platform).map(({ name }): [Platform, string] => [platform, name]),
)

describe('posture', () => {
  test.each(PLATFORMS.map((platform) => [platform]))('knob names of %s are unique', (platform) => {
    const names = listKnobs(platform).map(({ name }) => name)
    expect(names.length).toBeGreaterThanOrEqual(25)
    expect(new Set(names).size).toBe(names.length)
  })

  test.each(KNOBS)(
    '%s: turning %s changes rows, turning it back restores them',
    (platform, knob) => {
      const random = createRandom(7)
      for (let count = 0; count < 3; count += 1) {
        const device = shared.create(platform, random)
        const isElsewhere = knob === 'pending-restart' && device.person.flavor === 'fedora'
        const before = readEverything(device)
        device.setPosture(knob, 'bad')
        device.setPosture(knob, 'bad')
        expect(device.badKnobs).toEqual(new Set([knob]))
        if (!isElsewhere) expect(readEverything(device)).not.toBe(before)
        device.setPosture(knob, 'good')
        expect(device.badKnobs.size).toBe(0)
        expect(cell(device, 'SELECT COUNT(*) FROM users')).not.toBe('0')
        const restored = readEverything(device)
        device.setPosture(knob, 'good')
        expect(readEverything(device)).toBe(restored)
      }
    },
  )

  test('what a check looks at follows the knob', () => {
    const made = makeFactory()
    const mac = made.create('darwin', createRandom(1))
    const pc = made.create('windows', createRandom(1))
    const laptop = made.create('linux', createRandom(1))
    const looks: [SimulatedDevice, string, string, string, string][] = [
      [
        mac,
        'disk-encryption',
        "SELECT filevault_status FROM disk_encryption WHERE name = '/dev/disk3s1'",
        'on',
        'off',
      ],
      [mac, 'firewall', 'SELECT global_state FROM alf', '1', '0'],
      [mac, 'os-version', 'SELECT major FROM os_version', '26', '13'],
      [
        pc,
        'disk-encryption',
        "SELECT protection_status FROM bitlocker_info WHERE drive_letter = 'C:'",
        '1',
        '0',
      ],
      [pc, 'antivirus', 'SELECT antivirus FROM windows_security_center', 'Good', 'Poor'],
      [
        laptop,
        'disk-encryption',
        "SELECT d.encrypted FROM mounts m JOIN disk_encryption d ON d.name = m.device_alias WHERE m.path = '/'",
        '1',
        '0',
      ],
      [
        laptop,
        'ssh-keys',
        'SELECT k.encrypted FROM users u JOIN user_ssh_keys k USING (uid)',
        '1',
        '0',
      ],
    ]
    for (const [device, knob, sql, good, bad] of looks) {
      expect(cell(device, sql), `${knob} good`).toBe(good)
      device.setPosture(knob, 'bad')
      expect(cell(device, sql), `${knob} bad`).toBe(bad)
    }
  })

  test('one device’s posture leaves its neighbours alone', () => {
    const made = makeFactory()
    const random = createRandom(1)
    const devices = Array.from({ length: 20 }, () => made.create('darwin', random))
    devices[0]?.setPosture('firewall', 'bad')
    expect(devices.map((device) => cell(device, 'SELECT global_state FROM alf')).join('')).toBe(
      `0${'1'.repeat(19)}`,
    )
  })

  test('the same seed makes the same devices', () => {
    const first = makeFactory()
    const second = createDeviceFactory(() => NOW_MS)
    const [left, right] = [first, second].map((made) => made.create('linux', createRandom(9)))
    expect(left?.hostIdentifier).toBe(right?.hostIdentifier)
    second.close()
  })

  test('an unknown knob is refused', () => {
    const device = makeFactory().create('windows', createRandom(1))
    expect(() => device.setPosture('gatekeeper', 'bad')).toThrow('windows has no knob gatekeeper')
  })
})

describe('drift', () => {
  const settle = (): Promise<void> => Promise.resolve()

  test('breaks and fixes knobs at its chances, and only the named ones', async () => {
    const scheduler = createManualScheduler(settle)
    const made = makeFactory()
    const random = createRandom(5)
    const devices = Array.from({ length: 50 }, () => made.create('darwin', random))
    const changes: string[] = []
    const stop = startDrift(
      devices,
      { breakPerMinute: 0.2, fixPerMinute: 0.5, knobs: ['firewall', 'gatekeeper'] },
      { scheduler, random, onChange: (_device, knob, to) => changes.push(`${knob} ${to}`) },
    )
    await scheduler.advance(10 * 60_000)
    const broken = changes.filter((change) => change.endsWith('bad')).length
    expect(broken).toBeGreaterThan(50)
    expect(broken).toBeLessThan(150)
    expect(new Set(changes)).toEqual(
      new Set(['firewall bad', 'firewall good', 'gatekeeper bad', 'gatekeeper good']),
    )
    stop()
    const count = changes.length
    await scheduler.advance(10 * 60_000)
    expect(changes).toHaveLength(count)
  })

  test('a timeline turns knobs exactly when it says', async () => {
    const scheduler = createManualScheduler(settle)
    const device = makeFactory().create('darwin', createRandom(1))
    playTimeline(
      [device],
      [
        { atMs: 1_000, node: 0, knob: 'firewall', to: 'bad' },
        { atMs: 5_000, node: 0, knob: 'firewall', to: 'good' },
      ],
      { scheduler },
    )
    await scheduler.advance(999)
    expect(device.badKnobs.size).toBe(0)
    await scheduler.advance(1)
    expect(device.badKnobs).toEqual(new Set(['firewall']))
    await scheduler.advance(4_000)
    expect(device.badKnobs.size).toBe(0)
  })
})
