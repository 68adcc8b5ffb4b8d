import type { FastifyBaseLogger } from 'fastify'
import type { LogFn } from 'pino'

type Bindings = Parameters<FastifyBaseLogger['child']>[0]
type ChildOptions = Parameters<FastifyBaseLogger['child']>[1]

/**
 * The log of one request: the service's own with `bindings` in every line. It is made with its first
 * line, for most requests write none, and making it costs as much as reading a small request.
 */
export class RequestLog implements FastifyBaseLogger {
  readonly #logger: FastifyBaseLogger
  readonly #toBindings: () => Bindings
  readonly #options: ChildOptions
  #own: FastifyBaseLogger | undefined

  constructor(logger: FastifyBaseLogger, toBindings: () => Bindings, options?: ChildOptions) {
    this.#logger = logger
    this.#toBindings = toBindings
    this.#options = options
  }

  get level(): string {
    return this.#logger.level
  }

  child(bindings: Bindings, options?: ChildOptions): FastifyBaseLogger {
    return this.#open().child(bindings, options)
  }

  fatal(...line: unknown[]): void {
    this.#open().fatal(...(line as Parameters<LogFn>))
  }

  error(...line: unknown[]): void {
    this.#open().error(...(line as Parameters<LogFn>))
  }

  warn(...line: unknown[]): void {
    this.#open().warn(...(line as Parameters<LogFn>))
  }

  info(...line: unknown[]): void {
    this.#open().info(...(line as Parameters<LogFn>))
  }

  debug(...line: unknown[]): void {
    this.#open().debug(...(line as Parameters<LogFn>))
  }

  trace(...line: unknown[]): void {
    this.#open().trace(...(line as Parameters<LogFn>))
  }

  silent(...line: unknown[]): void {
    this.#open().silent(...(line as Parameters<LogFn>))
  }

  #open(): FastifyBaseLogger {
    this.#own ??= this.#logger.child(this.#toBindings(), this.#options)
    return this.#own
  }
}

/** Whether lines of `debug` are written: those of each request are then worth their price. */
export function writesDebug(logger: FastifyBaseLogger): boolean {
  return logger.level === 'debug' || logger.level === 'trace'
}
