/**
 * Devices of a fleet: whose they are, what their tables say and how their posture changes. It knows
 * no agent and no network.
 */
import { createDeviceIdentity } from '../personas/device-identity.ts'
import { DARWIN_ROWS } from '../personas/darwin-rows.ts'
import { FEDORA_ROWS, UBUNTU_ROWS } from '../personas/distribution-rows.ts'
import { listPeople } from '../personas/people.ts'
import { resolveChanges, resolveTables } from '../personas/template-rows.ts'
import type { DevicePerson, Flavor, TemplateTables } from '../personas/template-rows.ts'
import { WINDOWS_ROWS } from '../personas/windows-rows.ts'
import type { AgentTables } from '../osquery-client/agent-tables.ts'
import type { Platform } from '../platform.ts'
import { pick } from '../random.ts'
import type { Random } from '../random.ts'
import { createPlatformDatabase } from '../sql/platform-database.ts'
import type { PlatformDatabase } from '../sql/platform-database.ts'
import type { LocalConnection } from '../host/local-connections.ts'
import { showConnections } from './browser-rows.ts'
import { findKnob, listKnobs } from './knobs.ts'
import type { PostureState } from './knob.ts'

/** A device whose posture can be turned. */
export interface SimulatedDevice {
  readonly platform: Platform
  readonly person: DevicePerson
  readonly hostname: string
  /** The hardware UUID, which its agent enrolls with. */
  readonly hostIdentifier: string
  readonly serial: string
  readonly tables: AgentTables
  /** The knobs that are bad now. */
  readonly badKnobs: ReadonlySet<string>
  /** Turns a knob. Throws when the platform has no knob of that name; repeating changes nothing. */
  setPosture(knobName: string, state: PostureState): void
  /**
   * Has the device show a browser of this machine as its own: its connections are read whenever somebody asks the
   * device for connections. Undefined ends it.
   */
  showBrowser(listConnections: (() => readonly LocalConnection[]) | undefined): void
}

/** Makes devices; those of one platform share a database. */
export interface DeviceFactory {
  create(platform: Platform, random: Random): SimulatedDevice
  close(): void
}

const ROWS_BY_FLAVOR: Readonly<Record<Flavor, TemplateTables>> = {
  macos: DARWIN_ROWS,
  windows: WINDOWS_ROWS,
  ubuntu: UBUNTU_ROWS,
  fedora: FEDORA_ROWS,
}

interface Household {
  readonly database: PlatformDatabase
  readonly templates: readonly { readonly node: number; readonly person: DevicePerson }[]
}

/** Builds a platform's database with one template per person, every knob of it good. */
function createHousehold(platform: Platform, nowMs: () => number): Household {
  const database = createPlatformDatabase({ platform, nowMs })
  const nowSeconds = Math.floor(nowMs() / 1_000)
  const templates = listPeople(platform).map((person) => {
    const rows = resolveTables(ROWS_BY_FLAVOR[person.flavor], person, nowSeconds)
    const node = database.addNode(rows)
    for (const knob of listKnobs(platform)) {
      database.applyChanges(node, resolveChanges(knob.good, person, nowSeconds))
    }
    return { node, person }
  })
  return { database, templates }
}

/** Makes a factory whose devices tell the time of `nowMs`. All their knobs are good at first. */
export function createDeviceFactory(nowMs: () => number): DeviceFactory {
  const households = new Map<Platform, Household>()
  let ordinal = 0

  function householdOf(platform: Platform): Household {
    const household = households.get(platform) ?? createHousehold(platform, nowMs)
    households.set(platform, household)
    return household
  }

  return {
    create(platform, random) {
      const { database, templates } = householdOf(platform)
      const { node: template, person } = pick(templates, random)
      ordinal += 1
      const identity = createDeviceIdentity(platform, person, ordinal, random)
      const node = database.addNode(identity.rows, template)
      const badKnobs = new Set<string>()
      const tables = database.tablesOf(node)
      let listConnections: (() => readonly LocalConnection[]) | undefined
      return {
        platform,
        person,
        hostname: identity.hostname,
        hostIdentifier: identity.uuid,
        serial: identity.serial,
        tables: {
          query(sql) {
            if (listConnections !== undefined && sql.includes('process_open_sockets')) {
              showConnections(database, node, listConnections())
            }
            return tables.query(sql)
          },
        },
        badKnobs,
        showBrowser(list) {
          listConnections = list
          if (list === undefined) database.replaceRows(node, 'process_open_sockets', [])
        },
        setPosture(knobName, state) {
          const knob = findKnob(platform, knobName)
          if (knob === undefined) throw new Error(`${platform} has no knob ${knobName}`)
          const nowSeconds = Math.floor(nowMs() / 1_000)
          database.applyChanges(node, resolveChanges(knob[state], person, nowSeconds))
          if (state === 'bad') badKnobs.add(knobName)
          else badKnobs.delete(knobName)
        },
      }
    },
    close() {
      for (const { database } of households.values()) database.close()
      households.clear()
    },
  }
}
