/*
 * The devices as the REST API shows them, kept fresh at a modest rate: every device, and of the issues
 * those that changed since the last look.
 */
import type { DemoApi } from './demo-api.ts'

export type AuthState = 'Good' | 'Notified' | 'Will Block' | 'Blocked'

/** A device as it is shown. */
export interface BoardDevice {
  readonly id: string
  readonly name: string
  readonly platform: string
  /** Empty when nobody owns the device. */
  readonly owner: string
  readonly authState: AuthState
  /** Titles of its open issues. */
  readonly openIssues: readonly string[]
  readonly isThisMachine: boolean
}

interface OpenIssue {
  readonly deviceId: string
  readonly title: string
}

/** Worst first, so that what needs a look is on top. */
export const AUTH_STATES: readonly AuthState[] = ['Blocked', 'Will Block', 'Notified', 'Good']

/** Changes that commit while a list is read appear in the next look. */
const OVERLAP_MS = 5_000

/** Reads the board through the API. */
export class DeviceBoard {
  readonly #api: DemoApi
  readonly #issues = new Map<string, OpenIssue>()
  #ownerNames = new Map<string, string>()
  #issuesSince = new Date(0)
  #devices: readonly BoardDevice[] = []
  #hostIdentifier: string | undefined

  constructor(api: DemoApi) {
    this.#api = api
  }

  /** Sorted by state, worst first, then by name. */
  get devices(): readonly BoardDevice[] {
    return this.#devices
  }

  nameOf(deviceId: string): string | undefined {
    return this.#devices.find(({ id }) => id === deviceId)?.name
  }

  /** Marks the device of this machine; known only once its profile is read. */
  setHostIdentifier(hostIdentifier: string): void {
    this.#hostIdentifier = hostIdentifier
  }

  /** @throws DemoError when the API does not answer as expected */
  async refresh(): Promise<void> {
    const startedAt = new Date(Date.now() - OVERLAP_MS)
    const devices = await this.#api.listDevices()
    for (const issue of await this.#api.listIssuesUpdatedSince(this.#issuesSince)) {
      const isOpen = issue.resolved_at === null && !issue.exempted
      if (!isOpen) this.#issues.delete(issue.id)
      else {
        const deviceId = issue.device_information.identifier
        this.#issues.set(issue.id, { deviceId, title: issue.title })
      }
    }
    this.#issuesSince = startedAt
    const ownerIds = devices.map(({ registered_owner_info: { identifier } }) => identifier)
    if (ownerIds.some((id) => id !== '' && !this.#ownerNames.has(id))) {
      this.#ownerNames = new Map((await this.#api.listPeople()).map(({ id, name }) => [id, name]))
    }
    const titles = Map.groupBy(this.#issues.values(), ({ deviceId }) => deviceId)
    this.#devices = devices
      .map((device) => ({
        id: device.id,
        name: device.name,
        platform: device.device_type,
        owner: this.#ownerNames.get(device.registered_owner_info.identifier) ?? '',
        authState: device.auth_state,
        openIssues: (titles.get(device.id) ?? []).map(({ title }) => title),
        isThisMachine:
          this.#hostIdentifier !== undefined && device.hardware_uuid === this.#hostIdentifier,
      }))
      .toSorted(compareDevices)
  }
}

/** Worst state first, then by name. */
export function compareDevices(left: BoardDevice, right: BoardDevice): number {
  const byState = AUTH_STATES.indexOf(left.authState) - AUTH_STATES.indexOf(right.authState)
  return byState === 0 ? left.name.localeCompare(right.name) : byState
}
