/* Starts the receiver, kills it and starts it again. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const PROGRAM = join(import.meta.dirname, 'receiver-program.ts')

export interface ReceiverSettings {
  readonly baseUrl: string
  readonly port: number
  /** Where it writes down what came. */
  readonly path: string
  readonly key: string
  readonly pushAudience: string
  readonly pollAudience: string
  readonly pollUrl: string
  readonly webhookSecret: string
}

export class Receiver {
  readonly #settings: ReceiverSettings
  #child: ChildProcess | undefined
  #turn: Promise<void> = Promise.resolve()

  constructor(settings: ReceiverSettings) {
    this.#settings = settings
  }

  /** Resolves when it takes requests. */
  async start(): Promise<void> {
    const child = fork(PROGRAM, [JSON.stringify(this.#settings)], {
      execArgv: ['--conditions=source', '--disable-warning=ExperimentalWarning'],
    })
    this.#child = child
    await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => Promise.reject(new Error('the receiver did not start'))),
    ])
  }

  /** kill -9, and the start of another one; one such round at a time. */
  killAndStart(): Promise<void> {
    this.#turn = this.#turn.then(async () => {
      await this.stop()
      await this.start()
    })
    return this.#turn
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
}
