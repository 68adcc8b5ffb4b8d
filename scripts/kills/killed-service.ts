/*
 * One of the processes that share the database: killed in the middle of its work, and started again as a supervisor of
 * processes does it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ServiceProcess,
  type ServiceOptions,
} from '../../packages/server/test/e2e/support/service-process.ts'
import type { BalancedProcess } from '../versions/balancer.ts'

const STARTS_MAX = 30
const RESTART_MS = 250

export class KilledService implements BalancedProcess {
  readonly name: string
  readonly port: number
  readonly process: ServiceProcess
  isInRotation = false
  #onAcknowledged: (() => void)[] = []

  readonly #waitForDatabase: () => Promise<void>

  constructor(
    name: string,
    options: ServiceOptions,
    waitForDatabase: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.name = name
    this.#waitForDatabase = waitForDatabase
    this.port = options.port
    this.process = new ServiceProcess(options)
  }

  /** Once its database is there; it ends again where that goes away meanwhile, and is started anew. */
  async start(): Promise<void> {
    for (let attempt = 1; !this.isInRotation; attempt += 1) {
      try {
        await this.#waitForDatabase()
        await this.process.start()
        this.isInRotation = true
      } catch (error) {
        await this.process.kill(false)
        if (attempt === STARTS_MAX) throw error
        await sleep(RESTART_MS)
      }
    }
  }

  async kill(isDatabaseKilled: boolean): Promise<void> {
    const killed = this.process.kill(isDatabaseKilled)
    this.isInRotation = false
    await killed
  }

  async stop(): Promise<void> {
    this.isInRotation = false
    await this.process.stop()
  }

  /** It has acknowledged something that it must have stored. */
  noteAcknowledgement(): void {
    const listeners = this.#onAcknowledged
    this.#onAcknowledged = []
    for (const listener of listeners) listener()
  }

  /** Whether it acknowledges something within this time; resolves at that moment. */
  async acknowledgesWithin(ms: number): Promise<boolean> {
    const ending = new AbortController()
    const acknowledged = new Promise<boolean>((resolve) => {
      this.#onAcknowledged.push(() => resolve(true))
    })
    try {
      return await Promise.race([acknowledged, sleep(ms, false, { signal: ending.signal })])
    } finally {
      ending.abort()
    }
  }
}
