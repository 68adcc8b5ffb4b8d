/*
 * The devices as the REST API shows them, read at a modest rate, and the verified events under the
 * names of their devices.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../../platform/clock.ts'
import { PER_PAGE, type ApiDevice, type DemoApi } from './demo-api.ts'
import { DemoError } from './demo-error.ts'
import type { DemoOutput } from './demo-output.ts'
import type { VerifiedEvent } from './verified-event.ts'

const LOOK_MS = SECOND_MS
/** Keeps the demo below half of the rate limit of its key, however many devices there are. */
const MS_PER_REQUEST = 500

/** Shows the events that it is given after each look at the devices. */
export class DeviceView {
  readonly #api: DemoApi
  readonly #output: DemoOutput
  #devices: readonly ApiDevice[] = []
  #notice: string | undefined
  #events: VerifiedEvent[] = []

  constructor(api: DemoApi, output: DemoOutput) {
    this.#api = api
    this.#output = output
  }

  get counts() {
    const blocked = this.#devices.filter((device) => device.auth_state === 'Blocked')
    const notice = this.#notice
    return { deviceCount: this.#devices.length, blockedCount: blocked.length, notice }
  }

  /** Shown with the next look, which knows its device. */
  addEvent(event: VerifiedEvent): void {
    this.#events.push(event)
  }

  showEvents(): void {
    for (const event of this.#events) {
      const device = this.#devices.find(({ id }) => id === event.deviceId)
      this.#output.event(event, device?.name)
    }
    this.#events = []
  }

  /** Looks again and again until the signal is aborted. */
  async watchUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.#devices = await this.#api.listDevices()
        this.#notice = undefined
      } catch (error) {
        if (!(error instanceof DemoError)) throw error
        this.#notice = error.message
      }
      this.showEvents()
      const requests = Math.ceil(this.#devices.length / PER_PAGE)
      const pauseMs = Math.max(LOOK_MS, requests * MS_PER_REQUEST)
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }
}
