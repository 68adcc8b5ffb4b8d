/*
 * The devices as the REST API shows them, read at a modest rate: their names, and how many are blocked.
 */
import type { ApiDevice, DemoApi } from './demo-api.ts'

/** Reads the devices through the API. */
export class DeviceBoard {
  readonly #api: DemoApi
  #devices: readonly ApiDevice[] = []

  constructor(api: DemoApi) {
    this.#api = api
  }

  get deviceCount(): number {
    return this.#devices.length
  }

  get blockedCount(): number {
    return this.#devices.filter((device) => device.auth_state === 'Blocked').length
  }

  nameOf(deviceId: string): string | undefined {
    return this.#devices.find(({ id }) => id === deviceId)?.name
  }

  /** @throws DemoError when the API does not answer as expected */
  async refresh(): Promise<void> {
    this.#devices = await this.#api.listDevices()
  }
}
