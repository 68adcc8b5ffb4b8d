import { AppError } from '../app-error.ts'

/** The `config` of a route that refuses whatever is asked of it. */
export const REFUSES = { refuses: true } as const

/** The registered paths, for telling an unknown path from a known one with another method. */
export class PathTable {
  readonly #methodsOfPath = new Map<string, Set<string>>()

  /** Notes a registered route, unless it only refuses; `path` in the router's notation. */
  add(path: string, methods: string | readonly string[], config: unknown): void {
    if ((config as Partial<typeof REFUSES> | undefined)?.refuses === true) return
    const known = this.#methodsOfPath.get(path) ?? new Set<string>()
    for (const method of typeof methods === 'string' ? [methods] : methods) known.add(method)
    this.#methodsOfPath.set(path, known)
  }

  /** The methods that some route answers at a concrete path, sorted; empty for an unknown path. */
  methodsAt(url: string): string[] {
    const asked = segmentsOf(url.split('?', 1)[0] ?? '')
    const methods = new Set<string>()
    for (const [path, known] of this.#methodsOfPath) {
      if (matches(segmentsOf(path), asked)) for (const method of known) methods.add(method)
    }
    return [...methods].sort()
  }
}

/** The refusal of a request that no route takes: 405 when `allowed` names methods, else 404. */
export function unmatchedPath(method: string, allowed: readonly string[]): AppError {
  return allowed.length === 0
    ? new AppError('not_found', 'There is nothing at this path.')
    : new AppError(
        'method_not_allowed',
        `${method} is not answered at this path. Allowed: ${allowed.join(', ')}.`,
      )
}

/** One slash at the end counts for nothing, as in the router; an empty segment inside matches no route. */
function segmentsOf(path: string): string[] {
  return path.replace(/^\//, '').replace(/\/$/, '').split('/')
}

function matches(pattern: readonly string[], asked: readonly string[]): boolean {
  const isPrefix = pattern.at(-1) === '*'
  const length = isPrefix ? pattern.length - 1 : pattern.length
  if (isPrefix ? asked.length < length : asked.length !== length) return false
  return pattern
    .slice(0, length)
    .every((segment, index) =>
      isParameter(segment) ? asked[index] !== '' : segment.replaceAll('::', ':') === asked[index],
    )
}

/** In the router's notation two colons are one. */
function isParameter(segment: string): boolean {
  return segment.startsWith(':') && !segment.startsWith('::')
}
